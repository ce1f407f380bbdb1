/* SPDX-License-Identifier: BSD-2-Clause */
/* See kernel_types.h.  libbpf matches types by kind and name, and members by name, also inside of
 * members without a name; so these are laid flat. */
#include "collect/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/rd.h"
#include "base/vec.h"

#define ITER_TASK "bpf_iter_task" /* Linux, kernel/bpf/task_iter.c */

#define MOST_BYTES (256u << 10)
#define MOST_DEEP  16 /* structs within structs */

/* A type that was made: of which of the kernel's, and of which of the programs'. */
struct types_made {
	uint32_t kernel, program, to;
};

struct types_maker {
	const struct btf *kernel, *programs;
	struct btf *to;
	VEC(struct types_made) made;
};

static bool is_record(const struct btf_type *t)
{
	return btf_is_struct(t) || btf_is_union(t);
}

static uint32_t skip_names(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (btf_is_mod(t) || btf_is_typedef(t)) {
		id = t->type;
		t = btf__type_by_id(btf, id);
	}
	return id;
}

/* Finds the member of the record T called NAME, also in members without a name; *RET_BIT: where it
 * is from T's start. */
static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *t,
					    const char *name, uint32_t *ret_bit, uint32_t *ret_bits,
					    unsigned depth)
{
	const struct btf_member *m = btf_members(t);

	for (unsigned i = 0; i < btf_vlen(t); i++) {
		const char *own = btf__name_by_offset(btf, m[i].name_off);
		const struct btf_type *inner = btf__type_by_id(btf, skip_names(btf, m[i].type));
		const struct btf_member *found;

		if (strcmp(own, name) == 0) {
			*ret_bit = btf_member_bit_offset(t, i);
			*ret_bits = btf_member_bitfield_size(t, i);
			return &m[i];
		}
		if (*own || !is_record(inner) || depth == MOST_DEEP)
			continue;
		found = find_member(btf, inner, name, ret_bit, ret_bits, depth + 1);
		if (found) {
			*ret_bit += btf_member_bit_offset(t, i);
			return found;
		}
	}
	return NULL;
}

static int make_type(struct types_maker *k, uint32_t kernel, uint32_t program, unsigned depth);

/* A member that a record will have. */
struct types_member {
	const char *name;
	uint32_t bit, n_bits;
	int type;
};
typedef VEC(struct types_member) types_members;

/* Finds the members of the kernel's record KERNEL that the program's, PROGRAM, has. */
static int find_members(struct types_maker *k, const struct btf_type *kernel,
			const struct btf_type *program, types_members *ret, unsigned depth)
{
	const struct btf_member *m = btf_members(program);

	for (unsigned i = 0; i < btf_vlen(program); i++) {
		const char *name = btf__name_by_offset(k->programs, m[i].name_off);
		const uint32_t type = skip_names(k->programs, m[i].type);
		const struct btf_member *found;
		struct types_member one = {.name = name};
		int rc = 0;

		if (!*name) {
			rc = find_members(k, kernel, btf__type_by_id(k->programs, type), ret,
					  depth + 1);
			if (rc < 0)
				return rc;
			continue;
		}
		found = find_member(k->kernel, kernel, name, &one.bit, &one.n_bits, 0);
		if (!found)
			continue;
		one.type = make_type(k, skip_names(k->kernel, found->type), type, depth + 1);
		if (one.type < 0)
			return one.type;
		vec_push(ret, one);
	}
	return 0;
}

static int make_record(struct types_maker *k, const struct btf_type *kernel, uint32_t program,
		       unsigned depth)
{
	const struct btf_type *p = btf__type_by_id(k->programs, program);
	const char *name = btf__name_by_offset(k->kernel, kernel->name_off);
	types_members members = {0};
	int rc = is_record(p) ? find_members(k, kernel, p, &members, depth) : 0, id = rc;

	if (rc >= 0)
		id = btf_is_struct(kernel) ? btf__add_struct(k->to, name, kernel->size)
					   : btf__add_union(k->to, name, kernel->size);
	rc = id < 0 ? id : 0;
	for (size_t i = 0; i < members.n && rc >= 0; i++)
		rc = btf__add_field(k->to, members.v[i].name, members.v[i].type, members.v[i].bit,
				    members.v[i].n_bits);
	vec_release(&members);
	return rc < 0 ? rc : id;
}

/* Makes the kernel's type KERNEL with what the program's, PROGRAM, has of it; returns its number.
 * Neither has names of its own (typedef) or qualifiers. */
static int make_new(struct types_maker *k, uint32_t kernel, uint32_t program, unsigned depth)
{
	const struct btf_type *t = btf__type_by_id(k->kernel, kernel);
	const struct btf_type *p = btf__type_by_id(k->programs, program);
	int elem, index;

	if (depth > MOST_DEEP)
		return -ENOTSUP;
	if (is_record(t))
		return make_record(k, t, program, depth);
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FWD:
		return btf__add_type(k->to, k->kernel, t);
	case BTF_KIND_PTR:
		return btf__add_ptr(k->to, 0);
	case BTF_KIND_ARRAY:
		elem = make_type(k, skip_names(k->kernel, btf_array(t)->type),
				 btf_is_array(p) ? skip_names(k->programs, btf_array(p)->type)
						 : program,
				 depth + 1);
		index = elem < 0 ? elem
				 : make_type(k, skip_names(k->kernel, btf_array(t)->index_type),
					     program, depth + 1);
		return index < 0 ? index
				 : btf__add_array(k->to, index, elem, (int)btf_array(t)->nelems);
	default:
		return -ENOTSUP;
	}
}

static int make_type(struct types_maker *k, uint32_t kernel, uint32_t program, unsigned depth)
{
	int id;

	vec_each (m, &k->made)
		if (m->kernel == kernel && m->program == program)
			return (int)m->to;
	id = make_new(k, kernel, program, depth);
	if (id >= 0)
		vec_push(&k->made, (struct types_made){kernel, program, (uint32_t)id});
	return id;
}

/* Makes all that the programs know by a name that the kernel has, too. */
static int make_all(struct types_maker *k)
{
	for (uint32_t id = 1; id < btf__type_cnt(k->programs); id++) {
		const struct btf_type *t = btf__type_by_id(k->programs, id);
		const char *name = btf__name_by_offset(k->programs, t->name_off);
		int found, rc;

		if (!*name || (!is_record(t) && !btf_is_enum(t)))
			continue;
		if (strstr(name, "___")) /* a flavour: another's name */
			return -ENOTSUP;
		found = btf__find_by_name_kind(k->kernel, name, btf_kind(t));
		if (found == -ENOENT)
			continue;
		rc = found < 0 ? found : make_type(k, (uint32_t)found, id, 0);
		if (rc < 0)
			return rc;
	}
	return 0;
}

uint64_t kernel_types_key(const void *programs, size_t n)
{
	_mem_ char *notes = NULL;
	size_t n_notes = 0;

	if (file_load("/sys/kernel/notes", 1 << 20, &notes, &n_notes, NULL) < 0 || !n_notes)
		return 0;
	return hash_pair(hash_bytes(notes, n_notes), hash_bytes(programs, n));
}

int kernel_types_make(const struct btf *programs, struct wr *ret, struct err *err)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	struct types_maker k = {.kernel = kernel, .programs = programs, .to = btf__new_empty()};
	uint32_t n = 0;
	const void *raw;
	int iter, rc;

	if (!kernel || !k.to) {
		btf__free(kernel);
		btf__free(k.to);
		return err_set(err, -ENOENT, "this kernel does not tell its types");
	}
	iter = btf__find_by_name_kind(kernel, ITER_TASK, BTF_KIND_FUNC);
	rc = iter < 0 ? iter : make_all(&k);
	raw = rc < 0 ? NULL : btf__raw_data(k.to, &n);
	if (rc >= 0 && (!raw || n > MOST_BYTES))
		rc = -ENOTSUP;
	if (rc >= 0) {
		wr_le32(ret, (uint32_t)iter);
		wr_bytes(ret, raw, n);
	}
	vec_release(&k.made);
	btf__free(k.to);
	btf__free(kernel);
	return rc < 0 ? err_errno(err, rc, "the kernel's types") : 0;
}

int kernel_types_open(struct kernel_types *t, const uint8_t *bytes, size_t n, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	int rc;

	*t = (struct kernel_types){.iter_task = rd_le32(&r), .fd = -1};
	if (r.bad || rd_left(&r) > MOST_BYTES)
		return err_set(err, -EBADMSG, "kept types of the kernel are damaged");
	t->fd = memfd_create("kernel-types", MFD_CLOEXEC);
	rc = t->fd < 0 ? -errno : file_write_all(t->fd, r.p, rd_left(&r));
	if (rc >= 0)
		return 0;
	kernel_types_close(t);
	return err_errno(err, rc, "a file in memory");
}

void kernel_types_close(struct kernel_types *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}
