/* SPDX-License-Identifier: BSD-2-Clause */
/* See container.h.  Which member of which file says what is in docs/formats/container.md. */
#include "formats/container.h"

#include <errno.h>
#include <string.h>

#include "formats/json_in.h"

#define MOST_WISH  300 /* bytes of where a text stands */
#define ANNOTATION "annotation:"
#define ENV	   "env:"

/* A part of a list with commas. */
struct wish_part {
	const char *text;
	size_t n;
};

static bool next_part(const char **list, struct wish_part *ret)
{
	if (!**list)
		return false;
	ret->text = *list;
	ret->n = strcspn(*list, ",");
	*list += ret->n + (ret->text[ret->n] == ',');
	return true;
}

/* The length of P's kind when P begins so and names something. */
static size_t part_kind(const struct wish_part *p, const char *kind)
{
	const size_t n = strlen(kind);

	return p->n > n && memcmp(p->text, kind, n) == 0 ? n : 0;
}

int container_wish_check(const char *text, struct err *err)
{
	struct wish_part p;

	if (strlen(text) > MOST_WISH)
		return err_set(err, -EINVAL, "more than %d bytes", MOST_WISH);
	while (next_part(&text, &p))
		if (!part_kind(&p, ENV) && !part_kind(&p, ANNOTATION))
			return err_set(err, -EINVAL,
				       "'%.*s' is neither env:NAME nor annotation:KEY", (int)p.n,
				       p.text);
	return 0;
}

/* --- the texts --- */

/* Copies the N bytes at TEXT, of which those that would move a terminal's cursor become '?'. */
static void set_textn(struct container_texts *t, enum container_text k, const char *text, size_t n)
{
	n = n < CONTAINER_MOST_TEXT ? n : CONTAINER_MOST_TEXT;
	for (size_t i = 0; i < n; i++)
		t->v[k][i] = (uint8_t)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	t->v[k][n] = '\0';
}

static void set_text(struct container_texts *t, enum container_text k, const char *text)
{
	if (text && !*t->v[k])
		set_textn(t, k, text, strlen(text));
}

static const char *member(const struct json_in *j, const char *key)
{
	return json_in_text(json_in_get(j, key));
}

/* --- where version and tenant stand --- */

/* Where they may stand in a file. */
struct wish_places {
	const struct json_in *annotations[3]; /* objects; NULL: none */
	const struct json_in *env;	      /* a list of NAME=VALUE */
};

/* The value of NAME, N bytes, in the environment ENV. */
static const char *find_env(const struct json_in *env, const char *name, size_t n)
{
	for (size_t i = 0; i < json_in_n(env); i++) {
		const char *text = json_in_text(json_in_at(env, i));

		if (text && strncmp(text, name, n) == 0 && text[n] == '=')
			return text + n + 1;
	}
	return NULL;
}

static void set_wished(struct container_texts *t, enum container_text k, const char *list,
		       const struct wish_places *in)
{
	struct wish_part p;
	char key[MOST_WISH + 1];
	size_t kind;

	while (next_part(&list, &p) && !*t->v[k]) {
		if ((kind = part_kind(&p, ENV))) {
			set_text(t, k, find_env(in->env, p.text + kind, p.n - kind));
			continue;
		}
		kind = part_kind(&p, ANNOTATION);
		if (!kind || p.n - kind > MOST_WISH)
			continue;
		memcpy(key, p.text + kind, p.n - kind);
		key[p.n - kind] = '\0';
		for (size_t i = 0; i < n_elems(in->annotations); i++)
			set_text(t, k, member(in->annotations[i], key));
	}
}

static void set_both(struct container_texts *t, const struct container_wish *w,
		     const struct wish_places *in)
{
	set_wished(t, CONTAINER_VERSION, w->version, in);
	set_wished(t, CONTAINER_TENANT, w->tenant, in);
}

/* --- the files --- */

/* An object that stands as text in member KEY of J; NULL: none.  Free it. */
static struct json_in *inner(const struct json_in *j, const char *key)
{
	const char *text = member(j, key);
	struct json_in *ret = NULL;

	if (!text || json_in_parse(text, strlen(text), &ret, NULL) < 0)
		return NULL;
	return ret;
}

/* What containerd and CRI-O put into the annotations of a bundle. */
static void read_oci(const struct json_in *j, const struct container_wish *w,
		     struct container_texts *ret)
{
	static const struct {
		enum container_text text;
		const char *key;
	} keys[] = {
		{CONTAINER_NAME, "io.kubernetes.cri.container-name"},
		{CONTAINER_NAME, "io.kubernetes.container.name"},
		{CONTAINER_IMAGE, "io.kubernetes.cri.image-name"},
		{CONTAINER_IMAGE, "io.kubernetes.cri-o.ImageName"},
		{CONTAINER_POD, "io.kubernetes.cri.sandbox-name"},
		{CONTAINER_POD, "io.kubernetes.pod.name"},
		{CONTAINER_NAMESPACE, "io.kubernetes.cri.sandbox-namespace"},
		{CONTAINER_NAMESPACE, "io.kubernetes.pod.namespace"},
	};
	const struct json_in *a = json_in_get(j, "annotations");
	struct json_in *own = inner(a, "io.kubernetes.cri-o.Annotations"),
		       *labels = inner(a, "io.kubernetes.cri-o.Labels");
	const char *kind = member(a, "io.kubernetes.cri.container-type");

	for (size_t i = 0; i < n_elems(keys); i++)
		set_text(ret, keys[i].text, member(a, keys[i].key));
	if (!kind)
		kind = member(a, "io.kubernetes.cri-o.ContainerType");
	if (kind && strcmp(kind, "sandbox") == 0) /* the pod's own, which only waits */
		set_textn(ret, CONTAINER_NAME, "[pause]", strlen("[pause]"));
	set_both(ret, w,
		 &(struct wish_places){{a, own, labels},
				       json_in_get(json_in_get(j, "process"), "env")});
	json_in_free(own);
	json_in_free(labels);
}

static void read_docker(const struct json_in *j, const struct container_wish *w,
			struct container_texts *ret)
{
	const struct json_in *config = json_in_get(j, "Config"),
			     *labels = json_in_get(config, "Labels");
	const char *name = member(j, "Name");

	set_text(ret, CONTAINER_NAME, member(labels, "io.kubernetes.container.name"));
	set_text(ret, CONTAINER_NAME, name && *name == '/' ? name + 1 : name);
	set_text(ret, CONTAINER_IMAGE, member(config, "Image"));
	set_text(ret, CONTAINER_POD, member(labels, "io.kubernetes.pod.name"));
	set_text(ret, CONTAINER_NAMESPACE, member(labels, "io.kubernetes.pod.namespace"));
	set_both(ret, w, &(struct wish_places){{labels}, json_in_get(config, "Env")});
}

static int read_podman(const struct json_in *j, const struct container_wish *w,
		       struct container_texts *ret, struct err *err)
{
	for (size_t i = 0; i < json_in_n(j); i++) {
		const struct json_in *c = json_in_at(j, i);
		const char *id = member(c, "id");
		struct json_in *about;

		if (!id || strcmp(id, w->id) != 0)
			continue;
		about = inner(c, "metadata");
		set_text(ret, CONTAINER_NAME, json_in_text(json_in_at(json_in_get(c, "names"), 0)));
		set_text(ret, CONTAINER_NAME, member(about, "name"));
		set_text(ret, CONTAINER_IMAGE, member(about, "image-name"));
		json_in_free(about);
		return 0;
	}
	return err_set(err, -ENOENT, "not among %zu containers", json_in_n(j));
}

int container_read(const void *bytes, size_t n, const struct container_wish *w,
		   struct container_texts *ret, struct err *err)
{
	struct json_in *j = NULL;
	int rc = n > CONTAINER_MOST_FILE
			 ? err_set(err, -E2BIG, "more than %zu bytes", CONTAINER_MOST_FILE)
			 : json_in_parse(bytes, n, &j, err);

	memset(ret, 0, sizeof(*ret));
	if (rc < 0)
		return rc;
	if (w->file == CONTAINER_FILE_PODMAN)
		rc = read_podman(j, w, ret, err);
	else if (!json_in_is_object(j))
		rc = err_set(err, -EBADMSG, "no object");
	else if (w->file == CONTAINER_FILE_DOCKER)
		read_docker(j, w, ret);
	else
		read_oci(j, w, ret);
	set_textn(ret, CONTAINER_ID, w->id, strlen(w->id));
	json_in_free(j);
	return rc;
}

/* --- between processes --- */

void container_put_wish(const struct container_wish *w, struct wr *out)
{
	const char *texts[] = {w->id, w->version, w->tenant};

	wr_u8(out, (uint8_t)w->file);
	for (size_t i = 0; i < n_elems(texts); i++)
		wr_bytes(out, texts[i], strlen(texts[i]) + 1);
}

/* The next text, which ends with a NUL; NULL when it does not. */
static const char *get_text(struct rd *r)
{
	const uint8_t *end = memchr(r->p, '\0', rd_left(r));

	if (!end) {
		r->bad = true;
		return NULL;
	}
	return (const char *)rd_bytes(r, (size_t)(end - r->p) + 1);
}

int container_get_wish(const uint8_t *bytes, size_t n, struct container_wish *ret)
{
	struct rd r = rd_init(bytes, n);
	const unsigned file = rd_u8(&r);
	struct container_wish w = {.file = (enum container_file)file};

	w.id = get_text(&r);
	w.version = r.bad ? NULL : get_text(&r);
	w.tenant = r.bad ? NULL : get_text(&r);
	if (r.bad || rd_left(&r) || file >= CONTAINER_N_FILES)
		return -EBADMSG;
	*ret = w;
	return 0;
}

void container_put_texts(const struct container_texts *t, struct wr *out)
{
	for (size_t i = 0; i < CONTAINER_N_TEXTS; i++)
		wr_bytes(out, t->v[i], strlen(t->v[i]) + 1);
}

int container_get_texts(const uint8_t *bytes, size_t n, struct container_texts *ret)
{
	struct rd r = rd_init(bytes, n);
	struct container_texts t = {0};

	for (size_t i = 0; i < CONTAINER_N_TEXTS && !r.bad; i++) {
		const char *text = get_text(&r);

		if (text && strlen(text) > CONTAINER_MOST_TEXT)
			r.bad = true;
		else if (text)
			set_textn(&t, (enum container_text)i, text, strlen(text));
	}
	if (r.bad || rd_left(&r))
		return -EBADMSG;
	*ret = t;
	return 0;
}
