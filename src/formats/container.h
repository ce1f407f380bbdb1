/* SPDX-License-Identifier: BSD-2-Clause */
/* What runtimes write of a container into files on its host, docs/formats/container.md.  These
 * files are as hostile as whoever starts containers: a reader without rights parses them and sends
 * a few texts. */
#ifndef FORMATS_CONTAINER_H
#define FORMATS_CONTAINER_H

#include "base/err.h"
#include "base/rd.h"
#include "base/wr.h"
#include "model/profile.h"

enum container_file {
	CONTAINER_FILE_OCI,    /* config.json of a bundle: containerd, CRI-O */
	CONTAINER_FILE_DOCKER, /* config.v2.json */
	CONTAINER_FILE_PODMAN, /* containers.json: a list of all */
	CONTAINER_N_FILES
};

#define CONTAINER_MOST_FILE ((size_t)1 << 20) /* larger files are refused */
#define CONTAINER_MOST_TEXT 255		      /* bytes of a text; longer ones are cut */

/* What is wanted of a container.  VERSION and TENANT say where these stand: "env:NAME" or
 * "annotation:KEY" (annotations, and labels of docker), several with commas, the first that is
 * there counts; "" for nowhere. */
struct container_wish {
	enum container_file file;
	const char *id;
	const char *version, *tenant;
};

/* 0 when TEXT is such a list, else -EINVAL. */
int container_wish_check(const char *text, struct err *err);

/* Texts of a container; those that are not known are empty. */
struct container_texts {
	char v[CONTAINER_N_TEXTS][CONTAINER_MOST_TEXT + 1];
};

/* Reads the container that W wishes from the N bytes of a file.  -EBADMSG for what is not such a
 * file, -ENOENT for one that has not that container. */
int container_read(const void *bytes, size_t n, const struct container_wish *w,
		   struct container_texts *ret, struct err *err);

/* A wish, and texts, as bytes between processes.  Getting a wish, or texts, checks them; a wish's
 * texts live as long as the bytes. */
void container_put_wish(const struct container_wish *w, struct wr *out);
int container_get_wish(const uint8_t *bytes, size_t n, struct container_wish *ret);
void container_put_texts(const struct container_texts *t, struct wr *out);
int container_get_texts(const uint8_t *bytes, size_t n, struct container_texts *ret);

#endif
