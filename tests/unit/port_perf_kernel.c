/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel, its modules, the vdso and virtual machines of files that perf wrote elsewhere: where
 * they are, and that nothing of another machine has this one's names. */
#include <string.h>
#include <sys/utsname.h>

#include "perf_load_t.h"

static const struct build_id id = {2, {0xab, 0xcd}};

/* The image of KIND in L, which has one. */
static const struct image *image_of(const struct loaded *l, enum image_kind kind)
{
	const struct image *found = NULL;

	vec_each (i, &l->p.images)
		if (i->kind == kind) {
			EXPECT(!found);
			found = i;
		}
	EXPECT(found);
	return found;
}

/* A file of HOST and RELEASE with samples in the kernel, a module and the vdso, none of which has a
 * build-id. */
static struct loaded nameless(const char *host, const char *release)
{
	struct pd_file f = {0};
	struct loaded l;

	pd_event(&f, &attr, 7);
	if (host)
		pd_string(&f, &f.sections[PERFDATA_F_HOSTNAME], host);
	if (release)
		pd_string(&f, &f.sections[PERFDATA_F_OSRELEASE], release);
	pd_mmap_kernel(&f, 0xffffffff81000000, 0xa00000, 0xffffffff81000000,
		       "[kernel.kallsyms]_text");
	pd_mmap_kernel(&f, 0xffffffffc0000000, 0x8000, 0, "[ext4]");
	pd_comm(&f, 10, 10, "p", true, 1);
	pd_mmap2(&f, 10, 0x7000, 0x1000, 0, "[vdso]", NULL, 1);
	pd_sample(&f, 0, PERFDATA_MODE_KERNEL, 10, 10, 2, 0xffffffff81000010, NULL, 0);
	pd_sample(&f, 0, PERFDATA_MODE_KERNEL, 10, 10, 3, 0xffffffffc0000010, NULL, 0);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10, 4, 0x7010, NULL, 0);
	l = load(&f, NULL);
	EXPECT_EQ(l.rc, 0);
	EXPECT_EQ(l.r.n_unknown, 0);
	return l;
}

/* Without a build-id the kernel of another machine has an identity that this one's kernel has not,
 * so that it is never named by it; the reason is said once. */
TEST(of_another_machine)
{
	static const enum image_kind kinds[] = {IMAGE_KERNEL, IMAGE_MODULE, IMAGE_VDSO};
	const char *first = NULL;
	struct build_id ids[3];
	struct utsname u;
	struct loaded l;

	EXPECT_EQ(uname(&u), 0);
	l = nameless("elsewhere", u.release);
	for (size_t i = 0; i < n_elems(kinds); i++) {
		const struct image *im = image_of(&l, kinds[i]);

		ids[i] = im->build_id;
		EXPECT(im->build_id.n_bytes);
		EXPECT(im->flags & IMAGE_HASHED);
		EXPECT(!(im->flags & IMAGE_OFFSETS));
	}
	EXPECT(!build_id_same(&ids[0], &ids[1]) && !build_id_same(&ids[1], &ids[2]));
	first = strstr(str_get(&l.r.notes), "of another machine");
	EXPECT(first);
	EXPECT(first && !strstr(first + 1, "of another machine"));
	unload(&l);

	/* Two recordings of one machine have one kernel, those of two have two. */
	l = nameless("elsewhere", u.release);
	EXPECT(build_id_same(&image_of(&l, IMAGE_KERNEL)->build_id, &ids[0]));
	unload(&l);
	l = nameless("elsewhere", "3.4.0");
	EXPECT(!build_id_same(&image_of(&l, IMAGE_KERNEL)->build_id, &ids[0]));
	unload(&l);
	l = nameless(u.nodename, "3.4.0");
	EXPECT(image_of(&l, IMAGE_KERNEL)->build_id.n_bytes);
	unload(&l);
	l = nameless(NULL, NULL);
	EXPECT(image_of(&l, IMAGE_KERNEL)->build_id.n_bytes);
	unload(&l);
	/* This very machine may name it. */
	l = nameless(u.nodename, u.release);
	for (size_t i = 0; i < n_elems(kinds); i++)
		EXPECT_EQ(image_of(&l, kinds[i])->build_id.n_bytes, 0);
	EXPECT(!strstr(str_get(&l.r.notes), "another machine"));
	unload(&l);
}

/* The table of build-ids has the kernel under any name: it says that it is the kernel's. */
TEST(build_id_of_a_file)
{
	static const char *const paths[] = {"[kernel.kallsyms]", "/lib/modules/5.4.0/build/vmlinux",
					    "/tmp/vmlinux"};

	for (size_t i = 0; i < n_elems(paths); i++) {
		const struct build_id other = {2, {1, 2}};
		struct pd_file f = {0};
		struct loaded l;

		pd_event(&f, &attr, 7);
		pd_add_build_id(&f, PERFDATA_MODE_USER, &other, "/bin/true");
		pd_add_build_id(&f, PERFDATA_MODE_KERNEL, &other,
				"/lib/modules/5.4.0/kernel/ext4.ko.xz");
		pd_add_build_id(&f, PERFDATA_MODE_KERNEL, &other, "[ext4]");
		pd_add_build_id(&f, PERFDATA_MODE_GUEST_KERNEL, &other, "[guest.kernel.kallsyms]");
		pd_add_build_id(&f, PERFDATA_MODE_KERNEL, &id, paths[i]);
		pd_mmap_kernel(&f, 0xffffffff81000000, 0xa00000, 0xffffffff81000000,
			       "[kernel.kallsyms]_text");
		pd_sample(&f, 0, PERFDATA_MODE_KERNEL, 10, 10, 2, 0xffffffff81000010, NULL, 0);
		l = load(&f, NULL);
		EXPECT(build_id_same(&image_of(&l, IMAGE_KERNEL)->build_id, &id));
		EXPECT(!(image_of(&l, IMAGE_KERNEL)->flags & IMAGE_HASHED));
		unload(&l);
	}
}

/* Where the kernel is, as versions of perf and other machines have told it. */
TEST(extents)
{
	static const struct {
		uint64_t addr, n, off;
		const char *symbol;
		uint64_t ip, svma; /* 0: it is not in the kernel */
	} cases[] = {
		/* From _text to _etext; .init.text comes behind, and nothing far from it. */
		{0xffffffffb4200000, 0x200af00, 0xffffffffb4200000, "_text", 0xffffffffb4200010,
		 0xffffffff81000010},
		{0xffffffffb4200000, 0x200af00, 0xffffffffb4200000, "_text", 0xffffffffb7000000,
		 0xffffffff83e00000},
		{0xffffffffb4200000, 0x200af00, 0xffffffffb4200000, "_text", 0xffffffffbe000000, 0},
		{0xffffffffb4200000, 0x200af00, 0xffffffffb4200000, "_text", 0xffff888000001000, 0},
		/* To the first module. */
		{0xffffffffb4200000, 0xbe00000, 0xffffffffb4200000, "_text", 0xffffffffbf000000,
		 0xffffffff8be00000},
		{0xffffffffb4200000, 0xbe00000, 0xffffffffb4200000, "_text", 0xffffffffc0000010, 0},
		/* _stext is not where the kernel begins. */
		{0, 0xffffffff9fffffff, 0xffffffff96600198, "_stext", 0xffffffff96600200,
		 0xffffffff81000200},
		{0, 0xffffffff9fffffff, 0xffffffff81000190, "_stext", 0xffffffff81000200,
		 0xffffffff81000200},
		{0, 0xffffffff9fffffff, 0xffffffff81000190, "_stext", 0xffff888000001000, 0},
		/* One that was linked below where KASLR puts any. */
		{0xffffffff80200000, 0x600000, 0xffffffff80200000, "_text", 0xffffffff80200010,
		 0xffffffff80200010},
		/* arm64. */
		{0xffffffd3ffe80800, 0xb7f800, 0xffffffd3ffe80800, "_stext", 0xffffffd3ffe80810,
		 0xffff800080080810},
		/* It may not tell. */
		{0, 0, 0, "_text", 0xffffffff96600200, 0xffffffff96600200},
		{0, UINT64_MAX, 0, "", 0xffffffff96600200, 0xffffffff96600200},
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		struct pd_file f = {0};
		struct loaded l;
		char path[64], place[64];

		snprintf(path, sizeof(path), "[kernel.kallsyms]%s", cases[i].symbol);
		pd_event(&f, &attr, 7);
		pd_add_build_id(&f, PERFDATA_MODE_KERNEL, &id, "[kernel.kallsyms]");
		pd_mmap_kernel(&f, cases[i].addr, cases[i].n, cases[i].off, path);
		pd_sample(&f, 0, PERFDATA_MODE_KERNEL, 10, 10, 2, cases[i].ip, NULL, 0);
		l = load(&f, NULL);
		snprintf(place, sizeof(place), "+%#lx/0 0/0/0 1 0",
			 cases[i].svma ? cases[i].svma : cases[i].ip);
		if (!strstr(l.text, place))
			t_fail_("case %zu: no \"%s\" in:\n%s", i, place, l.text);
		EXPECT_EQ(l.r.n_unknown, !cases[i].svma);
		/* Where the kernel was is not known, so its addresses name nothing. */
		if (!cases[i].off)
			EXPECT(!build_id_same(&image_of(&l, IMAGE_KERNEL)->build_id, &id));
		unload(&l);
	}
}

/* What ran in a virtual machine is no code of the process or the kernel that has its address. */
TEST(virtual_machines)
{
	struct pd_file f = {0};
	struct loaded l;

	pd_event(&f, &attr, 7);
	pd_mmap_kernel(&f, 0xffffffff81000000, 0xa00000, 0xffffffff81000000,
		       "[kernel.kallsyms]_text");
	pd_comm(&f, 10, 10, "qemu", true, 1);
	pd_mmap2(&f, 10, 0x1000, 0x1000, 0, "/bin/qemu", NULL, 1);
	pd_sample(&f, 0, PERFDATA_MODE_GUEST_KERNEL, 10, 10, 2, 0xffffffff81000010, NULL, 0);
	pd_sample(&f, 0, PERFDATA_MODE_GUEST_USER, 10, 10, 3, 0x1010, NULL, 0);
	pd_sample(&f, 0, PERFDATA_MODE_HYPERVISOR, 10, 10, 4, 0x1010, NULL, 0);
	pd_sample(&f, 0, 0, 10, 10, 5, 0x1010, NULL, 0);
	l = load(&f, NULL);
	expect_value(&l, "10|10|0 unknown:[guest kernel]+0xffffffff81000010/0", 1);
	expect_value(&l, "10|10|0 unknown:[guest user]+0x1010/0", 1);
	expect_value(&l, "10|10|0 unknown:[hypervisor]+0x1010/0", 1);
	expect_value(&l, "10|10|0 unknown:[unknown]+0x1010/0", 1);
	unload(&l);
}
