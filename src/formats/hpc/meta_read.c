/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a meta.db, and its tables of modules, files and functions.
 *
 * The header says where the sections are, and each section begins with a header that says where its
 * arrays are and how far apart their elements; nothing is ever found by an assumed position, so
 * that files of later minor versions and of other writers are read as well.  Everything outside a
 * section is refused where the format's description puts it into that section.
 *
 * Text is checked in constant time: a section knows where its last NUL is, and every string that
 * begins before that ends in the section. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "formats/hpc/meta_impl.h"

/* In the order of the header, which is that of enum hpc_meta_section. */
static const struct {
	const char *title, *pointer;
} sections[] = {
	{"General Properties", "pGeneral"},  {"Identifier Names", "pIdNames"},
	{"Performance Metrics", "pMetrics"}, {"Context Tree", "pContext"},
	{"Common String Table", "pStrings"}, {"Load Modules", "pModules"},
	{"Source Files", "pFiles"},	     {"Functions", "pFunctions"},
};

const char *hpc_meta_section_name(enum hpc_meta_section i)
{
	return sections[i].title;
}

const char *hpc_layout_name(enum hpc_layout l)
{
	return l == HPC_PAGE ? "page" : "released";
}

int hpc_meta_text(const struct hpc_meta *m, enum hpc_meta_section s, uint64_t p, uint64_t at,
		  const char *structure, const char *field, const char **ret, struct err *err)
{
	const struct hpc_section *sec = &m->sections[s];

	if (!hpc_section_holds(sec, p, 1))
		return hpc_bad(err, m->name, at, structure, field,
			       "%#" PRIx64 " is not in the %s section", p, sections[s].title);
	if (p >= sec->text_end)
		return hpc_bad(err, m->name, at, structure, field,
			       "the string at %#" PRIx64 " has no end in the %s section", p,
			       sections[s].title);
	*ret = (const char *)m->bytes + p;
	return 0;
}

int hpc_meta_array(const struct hpc_meta *m, enum hpc_meta_section s, const struct hpc_array *a,
		   uint32_t least_stride, uint64_t at, const char *structure, const char *field,
		   struct err *err)
{
	if (!a->n)
		return 0;
	if (a->stride < least_stride)
		return hpc_bad(err, m->name, at, structure, field,
			       "elements of %" PRIu32 " bytes, they have %" PRIu32 " or more",
			       a->stride, least_stride);
	if (!hpc_section_holds(&m->sections[s], a->p, (uint64_t)a->n * a->stride))
		return hpc_bad(err, m->name, at, structure, field,
			       "%" PRIu32 " elements of %" PRIu32 " bytes at %#" PRIx64
			       " are not in the %s section",
			       a->n, a->stride, a->p, sections[s].title);
	return 0;
}

int hpc_meta_number(const struct hpc_meta *m, const struct hpc_array *a, uint64_t p, uint64_t at,
		    const char *structure, const char *field, uint32_t *ret, struct err *err)
{
	if (!p) {
		*ret = HPC_NONE;
		return 0;
	}
	if (p < a->p || !a->n || (p - a->p) / a->stride >= a->n || (p - a->p) % a->stride)
		return hpc_bad(err, m->name, at, structure, field,
			       "%#" PRIx64 " is no element of the table it points to", p);
	*ret = (uint32_t)((p - a->p) / a->stride);
	return 0;
}

static int read_header(struct hpc_meta *m, struct err *err)
{
	struct rd r = rd_init(m->bytes, m->n_bytes);
	int rc = hpc_frame_check(&hpc_meta_frame, m->bytes, m->n_bytes, m->name, &m->majorVersion,
				 &m->minorVersion, err);

	if (rc < 0)
		return rc;
	rd_bytes(&r, 16);
	for (int i = 0; i < HPC_META_N_SECTIONS; i++) {
		struct hpc_section *s = &m->sections[i];
		uint64_t at = rd_off(&r) + 8;
		const uint8_t *nul;

		s->sz = rd_le64(&r);
		s->p = rd_le64(&r);
		s->text_end = s->p;
		if (!s->sz)
			continue;
		if (s->sz > m->n_bytes - META_FOOTER || s->p > m->n_bytes - META_FOOTER - s->sz)
			return hpc_bad(err, m->name, at, "header", sections[i].pointer,
				       "%" PRIu64 " bytes at %#" PRIx64 " are not in the file",
				       s->sz, s->p);
		nul = i == HPC_META_CONTEXT ? NULL : memrchr(m->bytes + s->p, 0, s->sz);
		s->text_end = nul ? (uint64_t)(nul - m->bytes) + 1 : s->p;
	}
	return 0;
}

static int read_general(struct hpc_meta *m, struct err *err)
{
	const struct hpc_section *s = &m->sections[HPC_META_GENERAL];
	static const char name[] = "General Properties";
	struct rd r;
	uint64_t p;
	int rc;

	m->title = m->description = "";
	if (!s->sz)
		return 0;
	if (s->sz < GENERAL_HEADER)
		return hpc_bad(err, m->name, s->p, name, "", "the section ends in its header");
	r = hpc_meta_rd(m, s->p, s->sz);
	p = rd_le64(&r);
	rc = hpc_meta_text(m, HPC_META_GENERAL, p, s->p, name, "pTitle", &m->title, err);
	p = rd_le64(&r);
	return rc < 0 ? rc
		      : hpc_meta_text(m, HPC_META_GENERAL, p, s->p + 8, name, "pDescription",
				      &m->description, err);
}

static int read_id_names(struct hpc_meta *m, struct err *err)
{
	const struct hpc_section *s = &m->sections[HPC_META_ID_NAMES];
	static const char name[] = "Identifier Names";
	struct hpc_array a = {.stride = 8};
	struct rd r;
	int rc;

	if (!s->sz)
		return 0;
	if (s->sz < ID_NAMES_HEADER)
		return hpc_bad(err, m->name, s->p, name, "", "the section ends in its header");
	r = hpc_meta_rd(m, s->p, s->sz);
	a.p = rd_le64(&r);
	a.n = rd_u8(&r);
	rc = hpc_meta_array(m, HPC_META_ID_NAMES, &a, 8, s->p, name, "ppNames", err);
	if (rc < 0 || !a.n)
		return rc;
	m->id_names = arena_alloc(&m->arena, a.n * sizeof(*m->id_names));
	r = hpc_meta_rd(m, a.p, (uint64_t)a.n * 8);
	for (uint32_t i = 0; i < a.n && rc >= 0; i++)
		rc = hpc_meta_text(m, HPC_META_ID_NAMES, rd_le64(&r), a.p + 8 * i, name,
				   "ppNames[]", &m->id_names[i], err);
	m->n_id_names = a.n;
	return rc;
}

/* The three tables have headers of one form: pointer, count u32, stride u16. */
static int read_table(struct hpc_meta *m, enum hpc_meta_section i, uint32_t least_stride,
		      struct hpc_array *ret, struct err *err)
{
	const struct hpc_section *s = &m->sections[i];
	struct rd r;

	if (!s->sz)
		return 0;
	if (s->sz < TABLE_HEADER)
		return hpc_bad(err, m->name, s->p, sections[i].title, "",
			       "the section ends in its header");
	r = hpc_meta_rd(m, s->p, s->sz);
	ret->p = rd_le64(&r);
	ret->n = rd_le32(&r);
	ret->stride = rd_le16(&r);
	return hpc_meta_array(m, i, ret, least_stride, s->p, sections[i].title, sections[i].pointer,
			      err);
}

int hpc_meta_open(struct hpc_meta *m, const void *bytes, size_t n_bytes, const char *name,
		  struct err *err)
{
	int rc;

	*m = (struct hpc_meta){.bytes = bytes, .n_bytes = n_bytes, .name = name};
	rc = read_header(m, err);
	if (rc == 0)
		rc = read_general(m, err);
	if (rc == 0)
		rc = read_id_names(m, err);
	if (rc == 0) {
		m->layout = hpc_meta_layout(m);
		rc = hpc_meta_read_metrics(m, &m->arena, &m->metrics, err);
	}
	if (rc == 0)
		rc = read_table(m, HPC_META_MODULES, SZ_MODULE, &m->modules, err);
	if (rc == 0)
		rc = read_table(m, HPC_META_FILES, SZ_FILE, &m->files, err);
	if (rc == 0)
		rc = read_table(m, HPC_META_FUNCTIONS, SZ_FUNCTION, &m->functions, err);
	if (rc == 0)
		rc = hpc_meta_read_contexts(m, err);
	m->n_modules = m->modules.n;
	m->n_files = m->files.n;
	m->n_functions = m->functions.n;
	if (rc != 0)
		hpc_meta_release(m);
	return rc;
}

void hpc_meta_release(struct hpc_meta *m)
{
	arena_release(&m->arena);
	*m = (struct hpc_meta){0};
}

const char *hpc_meta_id_name(const struct hpc_meta *m, uint8_t kind)
{
	return kind < m->n_id_names ? m->id_names[kind] : "?";
}

/* Number I of table A; *RET_AT is its offset. */
static int element(const struct hpc_meta *m, const struct hpc_array *a, uint32_t i,
		   const char *structure, struct rd *ret, uint64_t *ret_at, struct err *err)
{
	if (i >= a->n) {
		hpc_bad(err, m->name, a->p, structure, "",
			"number %" PRIu32 " of %" PRIu32 " was asked for", i, a->n);
		return -EBADMSG;
	}
	*ret_at = a->p + (uint64_t)i * a->stride;
	*ret = hpc_meta_rd(m, *ret_at, a->stride);
	return 0;
}

/* {LMS} and {SFS} are alike. */
static int path_element(const struct hpc_meta *m, const struct hpc_array *a, uint32_t i,
			const char *structure, uint32_t *ret_flags, const char **ret_path,
			struct err *err)
{
	struct rd r;
	uint64_t at;
	int rc = element(m, a, i, structure, &r, &at, err);

	if (rc < 0)
		return rc;
	*ret_flags = rd_le32(&r);
	rd_le32(&r);
	return hpc_meta_text(m, HPC_META_STRINGS, rd_le64(&r), at + 8, structure, "pPath", ret_path,
			     err);
}

int hpc_meta_module(const struct hpc_meta *m, uint32_t i, struct hpc_module *ret, struct err *err)
{
	return path_element(m, &m->modules, i, "[LMS]", &ret->flags, &ret->path, err);
}

int hpc_meta_file(const struct hpc_meta *m, uint32_t i, struct hpc_file *ret, struct err *err)
{
	return path_element(m, &m->files, i, "[SFS]", &ret->flags, &ret->path, err);
}

int hpc_meta_function(const struct hpc_meta *m, uint32_t i, struct hpc_function *ret,
		      struct err *err)
{
	static const char name[] = "[FS]";
	struct rd r;
	uint64_t at, p;
	int rc = element(m, &m->functions, i, name, &r, &at, err);

	if (rc < 0)
		return rc;
	p = rd_le64(&r);
	ret->name = "";
	if (p)
		rc = hpc_meta_text(m, HPC_META_STRINGS, p, at, name, "pName", &ret->name, err);
	p = rd_le64(&r);
	if (rc >= 0)
		rc = hpc_meta_number(m, &m->modules, p, at + 0x08, name, "pModule", &ret->module,
				     err);
	ret->offset = rd_le64(&r);
	p = rd_le64(&r);
	if (rc >= 0)
		rc = hpc_meta_number(m, &m->files, p, at + 0x18, name, "pFile", &ret->file, err);
	ret->line = rd_le32(&r);
	ret->flags = rd_le32(&r);
	return rc;
}
