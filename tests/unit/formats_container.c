/* SPDX-License-Identifier: BSD-2-Clause */
/* What runtimes' files say of containers, and what they do not get to say. */
#include "formats/container.h"

#include <errno.h>
#include <string.h>

#include "t.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct container_texts got;

static int reads(enum container_file file, const char *text)
{
	const struct container_wish w = {file, ID, "annotation:app/version,env:VERSION",
					 "env:TENANT"};

	return container_read(text, strlen(text), &w, &got, NULL);
}

static void says(enum container_text k, const char *want)
{
	EXPECT(strcmp(got.v[k], want) == 0);
}

TEST(containerd)
{
	EXPECT(reads(CONTAINER_FILE_OCI,
		     "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"web\","
		     "\"io.kubernetes.cri.image-name\":\"nginx:1\",\"io.kubernetes.cri.sandbox-"
		     "name\":"
		     "\"front\",\"io.kubernetes.cri.sandbox-namespace\":\"shop\"},"
		     "\"process\":{\"env\":[\"VERSIONS=9\",\"VERSION=3\",\"TENANT=\"]}}") == 0);
	says(CONTAINER_ID, ID);
	says(CONTAINER_NAME, "web");
	says(CONTAINER_IMAGE, "nginx:1");
	says(CONTAINER_POD, "front");
	says(CONTAINER_NAMESPACE, "shop");
	says(CONTAINER_VERSION, "3");
	says(CONTAINER_TENANT, "");
}

TEST(annotations_come_first)
{
	EXPECT(reads(CONTAINER_FILE_OCI,
		     "{\"annotations\":{\"app/version\":\"4\",\"io.kubernetes.cri.container-type\":"
		     "\"sandbox\"},\"process\":{\"env\":[\"VERSION=3\"]}}") == 0);
	says(CONTAINER_VERSION, "4");
	says(CONTAINER_NAME, "[pause]");
	EXPECT(reads(CONTAINER_FILE_OCI, "{\"annotations\":{\"io.kubernetes.cri-o.Labels\":\"{"
					 "\\\"app/version\\\":\\\"5\\\"}\"}}") == 0);
	says(CONTAINER_VERSION, "5");
}

TEST(docker)
{
	EXPECT(reads(CONTAINER_FILE_DOCKER,
		     "{\"Name\":\"/web\",\"Config\":{\"Image\":\"nginx\",\"Labels\":{\"app/"
		     "version\":\"6\"},"
		     "\"Env\":[\"TENANT=a=b\"]}}") == 0);
	says(CONTAINER_NAME, "web");
	says(CONTAINER_IMAGE, "nginx");
	says(CONTAINER_VERSION, "6");
	says(CONTAINER_TENANT, "a=b");
}

TEST(podman)
{
	const char *list =
		"[{\"id\":\"x\",\"names\":[\"other\"]},{\"id\":\"" ID
		"\",\"names\":[\"mail\"],\"metadata\":\"{\\\"image-name\\\":\\\"postfix:3\\\"}\"}]";

	EXPECT(reads(CONTAINER_FILE_PODMAN, list) == 0);
	says(CONTAINER_NAME, "mail");
	says(CONTAINER_IMAGE, "postfix:3");
	EXPECT(reads(CONTAINER_FILE_PODMAN, "[]") == -ENOENT);
	EXPECT(reads(CONTAINER_FILE_PODMAN, "{}") == -ENOENT);
}

TEST(hostile)
{
	static char text[CONTAINER_MOST_FILE + 2];

	EXPECT(reads(CONTAINER_FILE_OCI, "") == -EBADMSG);
	EXPECT(reads(CONTAINER_FILE_OCI, "[]") == -EBADMSG);
	EXPECT(reads(CONTAINER_FILE_OCI, "{\"annotations\":7,\"process\":[]}") == 0);
	says(CONTAINER_NAME, "");
	EXPECT(reads(CONTAINER_FILE_DOCKER, "{\"Name\":\"/a\\u001b[2J\\nb\"}") == 0);
	says(CONTAINER_NAME, "a?[2J?b");
	snprintf(text, sizeof(text), "{\"Name\":\"%0600d\"}", 0);
	EXPECT(reads(CONTAINER_FILE_DOCKER, text) == 0);
	EXPECT(strlen(got.v[CONTAINER_NAME]) == CONTAINER_MOST_TEXT);
	memset(text, ' ', sizeof(text) - 1);
	EXPECT(reads(CONTAINER_FILE_OCI, text) == -E2BIG);
}

TEST(wishes)
{
	EXPECT(container_wish_check("", NULL) == 0);
	EXPECT(container_wish_check("env:A,annotation:b/c", NULL) == 0);
	EXPECT(container_wish_check("env:", NULL) == -EINVAL);
	EXPECT(container_wish_check("label:x", NULL) == -EINVAL);
}

TEST(between_processes)
{
	const struct container_wish w = {CONTAINER_FILE_PODMAN, ID, "env:A", ""};
	struct container_texts t = {{ID, "web", "", "", "", "v"}}, back;
	struct container_wish read;
	struct wr out = {0};

	container_put_wish(&w, &out);
	EXPECT(container_get_wish(out.v, out.n, &read) == 0);
	EXPECT(read.file == w.file && strcmp(read.id, ID) == 0 &&
	       strcmp(read.version, "env:A") == 0);
	for (size_t n = 0; n < out.n; n++)
		EXPECT(container_get_wish(out.v, n, &read) == -EBADMSG);
	out.n = 0;
	container_put_texts(&t, &out);
	EXPECT(container_get_texts(out.v, out.n, &back) == 0);
	EXPECT(strcmp(back.v[CONTAINER_VERSION], "v") == 0);
	for (size_t n = 0; n < out.n; n++)
		EXPECT(container_get_texts(out.v, n, &back) == -EBADMSG);
	wr_release(&out);
}
