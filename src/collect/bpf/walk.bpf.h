/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What a walk over the current task's user stack (unwind/walk.h) reads, and how it stays cheap:
 *
 * - the stack through a window of WINDOW_BYTES per bpf_probe_read_user, for most of its price is
 *   the call;
 * - mappings through a cache of regions per CPU, found anew (vma.bpf.h) when it does not know one.
 *   A region's key mixes what tells an address space, its executable mappings and its time, so that
 *   neither another process at the same place nor a library loaded over another one is mistaken for
 *   it for longer than the recorder's clock stands still;
 * - tables, rules and image numbers from arrays that user space writes.
 *
 * Nothing is locked: the memory is this CPU's, and a program does not interrupt itself. */
#ifndef COLLECT_BPF_WALK_H
#define COLLECT_BPF_WALK_H

#include "vma.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define WALK_AARCH64 0
#define N_REGS	     21 /* struct pt_regs: arch/x86/include/asm/ptrace.h */
enum { CX = 11, ORIG_AX = 15, IP = 16, CS = 17, SP = 19 };
#elif defined(__TARGET_ARCH_arm64)
#define WALK_AARCH64 1
#define N_REGS	     34 /* struct user_pt_regs: arch/arm64/include/uapi/asm/ptrace.h */
enum { SP = 31, IP = 32, PSTATE = 33 };
#else
#error "which registers does a walk need?"
#endif

#include "unwind/walk_state.h"

#include "unwind/python_state.h"
#include "unwind/v8_state.h"

#include "unwind/hotspot_state.h"
#include "unwind/perl_state.h"
#include "unwind/php_state.h"
#include "unwind/go_labels_state.h"
#include "unwind/made_code_state.h"
#include "unwind/ruby_state.h"

/* Processes of Go whose goroutines' labels are read. */
#define GO_PROCESSES 64

struct go_process {
	__u64 key, anchor;
	__u32 interpreter, spare;
};

/* Processes that were met in an interpreter's loop: by whose it is. */
#define SCRIPT_PROCESSES 64

struct script_process {
	__u64 key, bias;
	__u32 image, spare;
};

#define TOLD_SETS 1024
#define TOLD_WAYS 4

#define WINDOW_BYTES  512
#define WINDOW_BEHIND 56 /* registers are saved below the return address, which is read first */

#define REGION_GRANULE_SHIFT 18
#define REGION_SETS	     128
#define REGION_WAYS	     4

struct cached_region {
	__u64 tag; /* 0: none */
	__u64 start, bias;
	__u64 len_image; /* length | image << 48 */
};

#define ASKED_SLOTS  64
#define ASK_AGAIN_NS 100000000ULL
#define KNOWN_SETS   2048
#define KNOWN_WAYS   4

struct asked {
	__u64 what, when_ns;
};

/* A rule that was found before, and for which frames it holds: one cache line instead of those of
 * image, blocks, rows and rule, which are cold when a sample is taken.  Found by any place in the
 * same RECALL_GRANULE bytes: of a procedure's body, rarely twice at one address. */
#define RECALL_SETS	     2048
#define RECALL_WAYS	     2
#define RECALL_GRANULE_SHIFT 6

struct recalled {
	__u64 frame; /* the first one */
	__u32 n;     /* how many; 0: none */
	__u32 spare;
	struct unwind_rule rule;
};

/* A thread's last walk: last_walk.bpf.h. */
#define LAST_WALKS   32
#define LAST_FRAMES  128
#define LAST_REGIONS 8

/* The registers before a step, and what that depended on: walk.step, and in the upper bits
 * walk.flags, in a last_walk only those of registers that the walk used from there on. */
struct kept_state {
	__u64 ip, sp, fp, bx;
	__u64 step;
};

struct last_walk {
	__u64 key;	 /* of the thread and its mappings; 0: nobody's */
	__u32 n;	 /* states; the first is where the walk ended */
	__u32 n_regions; /* ever noted: the last LAST_REGIONS of them are there */
	__u64 sent;	 /* hash of a chain that was sent; 0: none */
	struct {
		__u64 start, bias;
		__u64 len_image;
	} regions[LAST_REGIONS];
	struct kept_state states[LAST_FRAMES]; /* outermost first */
	__u64 hashes[LAST_FRAMES];	       /* of the frame and all that called it */
	__u64 frames[LAST_FRAMES];
};

/* What a thread's memory said last: exit.bpf.h. */
#define EXIT_FRAMES 128

struct exit_path {
	__u64 start;  /* of the thread, as a number may be used again */
	__u64 ip, sp; /* the user's, where it called the kernel */
	__u32 n_frames, cause, has_raw, spare;
	__u64 link; /* the walk was left: the hash of its copy, which has the frames */
	__u64 frames[EXIT_FRAMES]; /* innermost first */
};

/* Memory of the process that was read at once, for lists whose items lie near to each other:
 * frames, what stands below them. */
#define N_NEARS		2
#define NEAR_MOST_WORDS 16 /* of an item */

struct near_memory {
	__u64 at, is_there;
	__u64 words[NEAR_BYTES / 8 + NEAR_MOST_WORDS];
};

/* A CPU's memory. */
struct cpu_walk {
	struct walk walk;
	__u64 mm;     /* address of the current mm_struct */
	__u64 mm_key; /* see regions */
	__u32 tgid;   /* in the recorder's pid namespace */
	__u32 spare;

	__u64 window_at;
	__u64 window_bytes;
	__u8 window[WINDOW_BYTES + 8];

	/* The chain that is being made (chain.bpf.h). */
	__u64 head, room;	       /* of this CPU's ring, in words */
	__u32 ring_at;		       /* where that is in chain_words */
	__u32 cause, at_leaf, has_raw; /* has_raw: a frame is an address, whose process matters */
	__u32 n_kernel;		       /* of the frames below */
	__u32 n_frames, n_kept;	       /* walked; taken over from the thread's last walk */
	__u32 first_state;	       /* in `fresh`, of the first of the user's callers */
	__u32 cursor;		       /* the kept state that may be met next; 0: none */
	bool keeps, alone;
	__u32 used;		 /* of WALK_FP and WALK_BX, from the frame kept last */
	__u32 last_at;		 /* of the thread, in `last` */
	bool copies, is_left;	 /* see copy.bpf.h */
	__u32 copy_ring, copy_n; /* its ring of copies, and how many chunks that has */
	__u32 copy_from, in_exec;
	__u64 link; /* see stack_copy */
	__u64 copied_since_ns, copied_bytes;
	struct copying {
		__u64 from, holes;
		__u32 at, spare;
	} copying;     /* a stack on its way to the chunks from `at` on */
	__u64 left_in; /* is_left: the frame it was left in; 0: the sample's own */
	__u64 hash;
	__u64 frames[CHAIN_MAX_FRAMES];	      /* walked, innermost first */
	struct kept_state fresh[LAST_FRAMES]; /* before each step, over and over */
	__u64 kernel[CHAIN_MAX_KERNEL + 1];
	__u64 words[N_REGS];

	__u32 n_scripts; /* of `frames`: an interpreter's */
	__u32 n_listed;	 /* words of a list for a copy, behind those */
	struct script_process script_processes[SCRIPT_PROCESSES];
	struct near_memory near[N_NEARS];
	struct python_walk python;
	struct v8_walk v8;
	struct v8_process v8_processes[V8_PROCESSES];
	struct hotspot_walk hotspot;
	struct hotspot_process hotspot_processes[HOTSPOT_PROCESSES];
	struct hotspot_inlined inlined[HOTSPOT_INLINED];
	struct v8_inlined v8_inlined[V8_INLINED];
	struct made_loop made_loops[MADE_LOOPS];
	struct go_labels go;
	struct go_process go_processes[GO_PROCESSES];
	__u64 labels;	 /* number of the goroutine's; 0: it has none, or they are not asked for */
	__u64 left_made; /* a word was found by which the walk goes on from made code */
	__u64 told[TOLD_SETS * TOLD_WAYS]; /* numbers of code that was told of */

	struct vma vma;
	struct vma_node node;
	struct asked asked[ASKED_SLOTS];
	struct cached_region regions[REGION_SETS * REGION_WAYS];
	__u64 known[KNOWN_SETS * KNOWN_WAYS]; /* hashes of chains sent */
	struct recalled recalled[RECALL_SETS * RECALL_WAYS];
	struct last_walk last[LAST_WALKS];

	__u64 is_taken; /* a walk of exits: while one is made */
	struct exit_path exit;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* n_cpus */
	__type(key, __u32);
	__type(value, struct cpu_walk);
} walks SEC(".maps");

/* Arrays of table words, which user space makes when there are tables for them: each of 8 bytes an
 * element, two words, as an mmapable array spaces them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* set before loading */
	__type(key, __u32);
	__type(value, __u32);
} table_pieces SEC(".maps");
MMAPABLE_ARRAY(unwind_rules, struct unwind_rule);
MMAPABLE_ARRAY(unwind_images, struct unwind_image);
MMAPABLE_ARRAY(image_keys, struct image_key);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} requests SEC(".maps");

/* What struct script_record tells.  Its reader is woken when it is half full. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} scripts SEC(".maps");

#define SCRIPTS_WAKE_BYTES (1 << 18)

/* Shared with user space. */
__u32 unwind_clock;
__u64 images_epoch;
__u32 scripts_epoch; /* numbers of code told of in another one are told of again */

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

#define WALK_ENV struct cpu_walk
#include "unwind/made_code.h"
#include "unwind/walk.h"

/* --- The stack --- */

/* Not static, as others here: it is verified once instead of for each way that leads here. */
__noinline int window_move(struct cpu_walk *w, __u64 avma)
{
	__u64 at = avma - WINDOW_BEHIND, n;

	if (!w)
		return false;
	w->window_at = at;
	w->window_bytes = WINDOW_BYTES;
	if (!bpf_probe_read_user(w->window, WINDOW_BYTES, (void *)at))
		return true;
	/* Near the end of the mapping, or of what is present: the rest of the page. */
	n = 4096 - (avma & 4095);
	if (n > WINDOW_BYTES)
		n = WINDOW_BYTES;
	w->window_at = avma;
	w->window_bytes = 0;
	if (n < 8 || bpf_probe_read_user(w->window, n, (void *)avma))
		return false;
	w->window_bytes = n;
	return true;
}

static __always_inline bool walk_word(struct cpu_walk *w, __u64 avma, __u64 *ret)
{
	__u64 at = avma - w->window_at;

	if (at > w->window_bytes - 8 || w->window_bytes < 8) {
		if (!window_move(w, avma))
			return false;
		at = avma - w->window_at;
	}
	*ret = *(__u64 *)&w->window[BELOW(at, WINDOW_BYTES)];
	return true;
}

static __always_inline bool walk_code(struct cpu_walk *w, __u64 avma, __u64 *ret)
{
	return !bpf_probe_read_user(ret, sizeof(*ret), (void *)avma);
}

static __always_inline __u64 walk_thread(struct cpu_walk *w)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *t = (struct task_struct *)bpf_get_current_task_btf();

	return t->thread.fsbase;
#else
	return 0;
#endif
}

/* --- Tables --- */

static __always_inline __u32 walk_table_word(struct cpu_walk *w, __u32 at)
{
	__u32 piece = at >> table_shift, pair = (at & ((1u << table_shift) - 1)) >> 1;
	void *of = bpf_map_lookup_elem(&table_pieces, &piece);
	__u64 *words = of ? bpf_map_lookup_elem(of, &pair) : NULL;

	return words ? (__u32)(*words >> (at & 1) * 32) : 0;
}

static __always_inline const struct unwind_rule *walk_rule(struct cpu_walk *w, __u32 number)
{
	return bpf_map_lookup_elem(&unwind_rules, &number);
}

static __always_inline const struct unwind_image *walk_image(struct cpu_walk *w, __u32 number)
{
	return bpf_map_lookup_elem(&unwind_images, &number);
}

static __always_inline struct recalled *recall_set(struct cpu_walk *w, __u64 frame)
{
	return &w->recalled[BELOW((frame >> RECALL_GRANULE_SHIFT) * 0x9e3779b97f4a7c15ULL >> 40,
				  RECALL_SETS) *
			    RECALL_WAYS];
}

static __always_inline const struct unwind_rule *walk_recall(struct cpu_walk *w, __u64 frame)
{
	struct recalled *r = recall_set(w, frame);
	__u64 at = frame - r->frame, far = at >> 20;

	/* To the second one where the first does not hold.  No branch: the verifier would follow
	 * each way through the rest of the step. */
	at = (r->n - 1ULL - (at & 0xfffff)) | far | -far;
	r += BELOW(at >> 63, RECALL_WAYS);
	return frame - r->frame < r->n ? &r->rule : NULL;
}

static __always_inline void walk_remember(struct cpu_walk *w, __u64 frame, __u32 n_before,
					  __u32 n_from, const struct unwind_rule *rule)
{
	struct recalled *r = recall_set(w, frame);

	r[1] = r[0];
	r[0].frame = frame - n_before;
	r[0].n = n_before + n_from;
	r[0].rule = *rule;
}

/* --- Mappings --- */

/* Whether WHAT was asked for within ASK_AGAIN_NS, and if not, that it is now. */
static __always_inline bool asked_lately(struct cpu_walk *w, __u64 what, __u64 slot)
{
	struct asked *asked = &w->asked[BELOW(slot, ASKED_SLOTS)];
	__u64 now_ns = bpf_ktime_get_ns();

	if (asked->what == what && now_ns - asked->when_ns < ASK_AGAIN_NS)
		return true;
	asked->what = what;
	asked->when_ns = now_ns;
	return false;
}

/* Asks user space for a table of the file in w->vma. */
static __noinline void ask(struct cpu_walk *w, __u32 number)
{
	__u64 what = mix(mix(w->vma.ino, w->vma.dev), w->vma.generation);
	struct image_request r = {.ino = w->vma.ino,
				  .dev = w->vma.dev,
				  .generation = w->vma.generation,
				  .tgid = w->tgid,
				  .number = number,
				  .start = w->vma.start};

	if (!asked_lately(w, what, what >> 40))
		bpf_ringbuf_output(&requests, &r, sizeof(r), BPF_RB_FORCE_WAKEUP);
}

/* What looks for an image by its key. */
struct image_probing {
	struct image_key key; /* its number once it is found, else 0 */
	__u32 hash;
};

static int image_probe(__u32 i, struct image_probing *p)
{
	__u32 at = (p->hash + i) & (n_image_keys - 1);
	const struct image_key *k = bpf_map_lookup_elem(&image_keys, &at);

	if (!k || !k->number)
		return 1;
	if (k->ino != p->key.ino || k->dev != p->key.dev ||
	    (k->generation != p->key.generation && k->dev != RUNTIME_DEV))
		return 0;
	p->key = *k;
	return 1;
}

/* The image of the file in w->vma, or WALK_UNKNOWN_FILE. */
static __always_inline __u32 image_find(struct cpu_walk *w)
{
	struct image_probing p = {
		.key = {.ino = w->vma.ino, .dev = w->vma.dev, .generation = w->vma.generation},
		.hash = image_key_hash(w->vma.ino, w->vma.dev, w->vma.generation)};

	bpf_loop(IMAGE_PROBES, image_probe, &p, 0);
	if (p.key.number)
		return p.key.number <= FRAME_MAX_IMAGES ? p.key.number : WALK_UNKNOWN_FILE;
	ask(w, 0);
	return WALK_UNKNOWN_FILE;
}

/* A region of the process's mappings that the cache does not have. */
static __always_inline bool region_find(struct cpu_walk *w, __u64 avma, struct walk_region *ret)
{
	if (!vma_read(&w->vma, &w->node, w->mm, avma) || !(w->vma.flags & VM_EXEC))
		return false;
	ret->start = w->vma.start;
	ret->end = w->vma.end;
	ret->bias = w->vma.off - w->vma.start;
	if (w->vma.start == w->vma.vdso) {
		ret->image = IMAGE_NUMBER_VDSO;
		ret->bias = -w->vma.start;
	} else {
		ret->image = w->vma.file ? image_find(w) : WALK_ANONYMOUS;
	}
	return true;
}

/* Notes that the image's table is in use. */
static __always_inline void touch(__u32 number)
{
	struct unwind_image *image = bpf_map_lookup_elem(&unwind_images, &number);

	if (image && image->last_used != unwind_clock)
		image->last_used = unwind_clock;
}

static __always_inline __u64 region_tag(const struct cpu_walk *w, __u64 avma)
{
	return mix(w->mm_key, avma >> REGION_GRANULE_SHIFT) | 1;
}

/* The region of this CPU's cache that AVMA lies in; NULL: it has none. */
static __always_inline struct cached_region *region_cached(struct cpu_walk *w, __u64 avma)
{
	const __u64 tag = region_tag(w, avma), set = BELOW(tag >> 40, REGION_SETS) * REGION_WAYS;

	for (__u32 i = 0; i < REGION_WAYS; i++) {
		struct cached_region *r = &w->regions[BELOW(set + i, REGION_SETS * REGION_WAYS)];

		if (r->tag == tag && avma - r->start < (r->len_image & FRAME_OFF_MASK))
			return r;
	}
	return NULL;
}

/* A region out of the cache of this CPU, or of the process's mappings. */
static __noinline bool region_get(struct cpu_walk *w, __u64 avma, struct walk_region *ret)
{
	__u64 tag, set;
	struct cached_region *r;

	if (!bpf_core_type_exists(struct maple_tree)) { /* frame pointers will have to do */
		ret->start = 4096;
		ret->end = FRAME_OFF_MASK;
		ret->image = WALK_ANONYMOUS;
		return avma >= ret->start && avma < ret->end;
	}
	r = region_cached(w, avma);
	if (r) {
		ret->start = r->start;
		ret->end = r->start + (r->len_image & FRAME_OFF_MASK);
		ret->bias = r->bias;
		ret->image = r->len_image >> 48;
		return true;
	}
	if (!region_find(w, avma, ret))
		return false;
	tag = region_tag(w, avma);
	set = BELOW(tag >> 40, REGION_SETS) * REGION_WAYS;
	r = &w->regions[BELOW(set + BELOW(tag >> 32 ^ ret->start >> 12, REGION_WAYS),
			      REGION_SETS * REGION_WAYS)];
	r->tag = tag;
	r->start = ret->start;
	r->bias = ret->bias;
	r->len_image = ((ret->end - ret->start) & FRAME_OFF_MASK) | (__u64)ret->image << 48;
	return true;
}

__noinline int region_known(struct cpu_walk *w, __u64 avma, struct walk_region *ret)
{
	struct last_walk *last;
	__u32 at;

	if (!w || !ret)
		return false;
	last = &w->last[BELOW(w->last_at, LAST_WALKS)];
	for (int i = 0; i < LAST_REGIONS; i++) {
		const __u64 start = last->regions[i].start, len_image = last->regions[i].len_image;

		if (avma - start < (len_image & FRAME_OFF_MASK)) {
			ret->start = start;
			ret->end = start + (len_image & FRAME_OFF_MASK);
			ret->bias = last->regions[i].bias;
			ret->image = len_image >> 48;
			return true;
		}
	}
	if (!region_get(w, avma, ret))
		return false;
	touch(ret->image);
	at = BELOW(last->n_regions++, LAST_REGIONS);
	last->regions[at].start = ret->start;
	last->regions[at].bias = ret->bias;
	last->regions[at].len_image = ((ret->end - ret->start) & FRAME_OFF_MASK) | (__u64)ret->image
											   << 48;
	return true;
}

static __always_inline bool walk_region(struct cpu_walk *w, __u64 avma, struct walk_region *ret)
{
	return region_known(w, avma, ret);
}

/* An image's table was evicted: it is wanted back. */
static __noinline void walk_want(struct cpu_walk *w, __u32 image, __u64 avma)
{
	if (image == IMAGE_NUMBER_VDSO || asked_lately(w, image, image))
		return;
	if (vma_read(&w->vma, &w->node, w->mm, avma))
		ask(w, image);
}

#endif
