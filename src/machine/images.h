/* SPDX-License-Identifier: BSD-2-Clause */
/* The distinct files (and nameless regions) that are mapped executable anywhere on the machine.
 *
 * A file is opened at first sight, through a process that maps it, while that process lives: later
 * it may be deleted, replaced or in a mount namespace that is gone.  The open descriptor is kept
 * (up to a limit) so that its symbols can be saved at the next flush.
 *
 * Where somebody else reads the files (images_ask), a file is read when its first sample or call
 * path comes, and its layout is here later.  Until then its samples are counted in a stand-in
 * image, at file offsets; images_take and images_moves tell where they belong.  No file system is
 * waited for: descriptors are O_PATH. */
#ifndef MACHINE_IMAGES_H
#define MACHINE_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file_stamp.h"
#include "base/hash.h"
#include "base/vec.h"
#include "collect/bpf/record.h"
#include "model/image.h"
#include "model/profile.h"

/* What a mapping record says about the file behind it. */
struct image_ref {
	struct build_id build_id; /* n_bytes 0: not told */
	uint64_t dev, ino;	  /* when no build-id is told; 0 unknown */
	uint64_t ino_generation; /* tells files apart that had one inode after another; 0 unknown */
	const char *path;	 /* as the kernel prints it, " (deleted)" and all */
	uint32_t pid;		 /* a process that maps it, for opening; 0: none */
	uint64_t start, end;	 /* where it maps it */
};

enum mapped_kind { CODE_FILE, CODE_VDSO, CODE_ANON };

/* One distinct mapped thing. */
struct mapped_code {
	enum mapped_kind kind;
	string_id path;	 /* without " (deleted)" */
	image_id image;	 /* in the profile; CODE_ANON: none (it depends on the process) */
	bool sampled;	 /* some sample fell into it */
	bool is_dump;	 /* images_is_dump */
	bool has_layout; /* else the file could not be read, and its svma are file offsets */
	bool asked;	 /* its layout is not here yet: `image` is a stand-in */
	bool unread;	 /* asked, and nobody is at it: images_want */
	bool deleted;
	bool stood_in;		 /* samples were put into the stand-in, and caches may name it */
	uint64_t asked_ns;	 /* CLOCK_MONOTONIC */
	image_id stand_in;	 /* when it has or had one */
	int fd;			 /* of the file; -1 */
	uint32_t owner;		 /* of the file that the layout is of: a user's number */
	struct file_stamp stamp; /* of the file that the layout is of */
	struct image_layout layout;
	struct build_id told; /* identity: */
	uint64_t dev, ino, ino_generation;
};

struct images {
	struct profile *profile; /* borrowed */
	image_probe_fn *probe;
	VEC(struct mapped_code) codes;
	struct index ix;
	unsigned n_open;
	/* Codes by the number that frames of call paths have for their files; INDEX_NONE: none. */
	VEC(uint32_t) numbered;
	struct mapped_code vdso; /* this process's own: all 64-bit processes share it */
	bool asks;		 /* images_ask */
	VEC(uint32_t) asked;	 /* codes whose layout is awaited: somebody reads it */
	uint32_t n_taken;	 /* layouts that came late, ever */
	/* Where mappings are not of this machine's processes: opens the file that REF means, or
	 * -1.  NULL: it is looked for as its process sees it. */
	int (*find_file)(void *ctx, const struct image_ref *ref, const char *path);
	void *find_ctx;
};

/* IM keeps P and PROBE; probe_vdso describes the vdso's ELF image (NULL when there is none). */
void images_init(struct images *im, struct profile *p, image_probe_fn *probe,
		 const struct image_layout *vdso);
void images_release(struct images *im);

/* The memory of all that IM knows, without what it put into the profile. */
size_t images_bytes(const struct images *im);

/* From now on PROBE is given O_PATH descriptors and may say -EAGAIN: it will be asked again. */
void images_ask(struct images *im);

/* Asks for the layout of CODE, or of all codes, unless that is done. */
void images_want(struct images *im, uint32_t code);
void images_want_all(struct images *im);

/* Asks again for the layouts that are awaited; false when none has come. */
bool images_take(struct images *im);

/* Number of awaited files with samples that were asked for since SINCE_NS (CLOCK_MONOTONIC). */
size_t images_n_awaited(const struct images *im, uint64_t since_ns);

/* Where each place of the profile belongs, as far as that is known now: the place itself unless it
 * is a stand-in's.  With AWAITED those of files that are still awaited, which are placed by file
 * offset; else those of files that came.  NULL: all stay.  For profile_move_places; free it. */
place_id *images_moves(struct images *im, bool awaited);

/* Whether some file that came has samples in its stand-in. */
bool images_any_came(const struct images *im);

/* Notes that nothing names the stand-ins of files that came any more. */
void images_moved(struct images *im);

/* The number of the code REF maps, added at first sight. */
uint32_t images_intern(struct images *im, const struct image_ref *ref);

/* Finds a file's code by build-id, for samples that carry nothing else.  INDEX_NONE: there is none,
 * or two images have it. */
uint32_t images_find_build_id(const struct images *im, const struct build_id *id);

/* The place of file offset OFF of code CODE, which is not CODE_ANON.  It is not interned. */
struct place images_find_place(struct images *im, uint32_t code, uint64_t off);

/* The place of file offset OFF of code CODE, which is not CODE_ANON, in the profile, with FLAGS of
 * enum place_flags. */
place_id images_place(struct images *im, uint32_t code, uint64_t off, uint32_t flags);

/* The place of file offset OFF in a file that no living process maps.  Its path is unknown; its
 * build-id ID says which file it was. */
place_id images_unmapped_place(struct images *im, const struct build_id *id, uint64_t off,
			       uint32_t flags);

/* Whether PATH has the name of a file in which a JIT compiler describes its code, jit-PID.dump.
 * Compilers map a page of it executable, so that profilers hear of it. */
bool images_is_dump(const char *path);

/* Opens the file of CODE, which has a layout, once more, by its path and as process PID sees it (0:
 * no process).  A descriptor for the caller, or -1 when it is not there, not the same any more or
 * somebody else's. */
int images_reopen(struct images *im, uint32_t code, uint32_t pid);

/* The generation of CODE's inode, as the kernel has it; false: it is not known, or the file is not
 * open (any more).  Nobody is asked but the kernel. */
bool images_generation(const struct images *im, uint32_t code, uint32_t *ret);

/* Gives CODE the next number, which is never given again; 0 when there are FRAME_MAX_IMAGES. */
uint32_t images_add_number(struct images *im, uint32_t code);

/* The code with that number, INDEX_NONE when there is none. */
uint32_t images_numbered(struct images *im, uint32_t number);

#endif
