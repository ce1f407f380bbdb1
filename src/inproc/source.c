/* SPDX-License-Identifier: BSD-2-Clause */
/* Ticks of one thread through perf_event_open(2).
 *
 * Each thread has an event of its own, the leader of its group: an event of a clock that is not, or
 * one that is switched on again after each signal, loses most of its samples.  A record of the ring
 * holds the event's count and the program counter the thread has, or will come back to, in user
 * space.
 *
 * A record is one tick, and the count says how many ticks there should have been.  Example: a clock
 * with a period of 1 ms that may not look into the kernel (exclude_kernel).  The thread computes
 * for 2 ms, is in read(2) for 5 ms and computes on.  The clock goes on in the kernel but writes no
 * record there, so the ring holds counts 1, 2 and 8.  The third record is one tick at its pc; ticks
 * 3 to 7 have no place (n_unplaced).  Records lost to a full ring, to throttling or to a late
 * interrupt show in the same way.
 *
 * A clock's records are a little closer than its period, so that they wander through the rounds of
 * a thread that does the same work over and over: of 10 ms at 100 Hz all would be in one phase of a
 * round of 10 ms of CPU time, for as long as it runs.  The count decides which are ticks. */
#include "inproc/source.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/drift.h"
#include "inproc/own_fd.h"
#include "inproc/source_timer.h"

#if defined(__x86_64__)
enum { REG_IP = 8 }; /* PERF_REG_X86_IP: arch/x86/include/uapi/asm/perf_regs.h */
#elif defined(__aarch64__)
enum { REG_IP = 32 }; /* PERF_REG_ARM64_PC: arch/arm64/include/uapi/asm/perf_regs.h */
#else
#error "which register is the program counter?"
#endif

/* One sample: perf_event.h PERF_RECORD_SAMPLE with PERF_SAMPLE_READ and PERF_SAMPLE_REGS_USER.  The
 * words are the event's count; or, of a group (PERF_FORMAT_GROUP), how many events it has, the
 * clock's count and the event's; then the ABI of the registers (0: there are none, as of a thread
 * that is ending) and the pc. */
struct sample {
	struct perf_event_header header;
	uint64_t words[5];
};

/* Pages for what comes in half a second, between 2 and 64: perf_event_mlock_kb is for all. */
static size_t ring_pages(uint64_t rate_hz)
{
	uint64_t wanted = rate_hz * sizeof(struct sample) / 2;
	size_t n = 1;

	while (n < 64 && n * (size_t)sysconf(_SC_PAGESIZE) < wanted)
		n *= 2;
	return n;
}

/* How far records of SPEC are apart: of clocks one thirty-second less than the period at the most,
 * and drawn once for all threads.  Called under the lock of whoever opens sources. */
static uint64_t record_period(const struct tick_spec *spec)
{
	static uint64_t period, drawn;
	struct timespec t = {0};
	uint64_t state;

	if (!spec->is_clock || spec->weighted || spec->whole_only)
		return spec->period;
	if (period != spec->period) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		state = (uint64_t)t.tv_nsec ^ (uint64_t)getpid() << 32;
		period = spec->period;
		drawn = drift_draw(period - period / 64, &state);
	}
	return drawn < period ? drawn : period;
}

static int open_event(pid_t tid, const struct tick_spec *spec, size_t ring_bytes)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = spec->look_ns ? PERF_TYPE_SOFTWARE : spec->type,
		.config = spec->look_ns ? PERF_COUNT_SW_TASK_CLOCK : spec->config,
		.config1 = spec->look_ns ? 0 : spec->config1,
		.config2 = spec->look_ns ? 0 : spec->config2,
		.sample_period = spec->look_ns ? spec->look_ns : record_period(spec),
		.read_format = spec->look_ns ? PERF_FORMAT_GROUP : 0,
		.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER,
		.sample_regs_user = 1ULL << REG_IP,
		.exclude_kernel = spec->user_only,
		.exclude_hv = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(ring_bytes / 2),
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	/* perf_event_paranoid 2 and up: the kernel's part is not for everybody */
	if (fd < 0 && (errno == EACCES || errno == EPERM) && !spec->user_only) {
		attr.exclude_kernel = 1;
		fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : own_fd_move_up((int)fd);
}

/* Whether the program has left event ID of ours alone. */
static bool is_event(int fd, uint64_t id)
{
	uint64_t now;

	return ioctl(fd, PERF_EVENT_IOC_ID, &now) == 0 && now == id;
}

static void close_event(const struct tick_source *s)
{
	if (s->looks && is_event(s->counter_fd, s->counter_id))
		close(s->counter_fd);
	if (is_event(s->fd, s->id))
		close(s->fd);
}

/* The event of SPEC, beside LEADER, which says when it is looked at. */
static int open_counter(pid_t tid, const struct tick_spec *spec, int leader)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = spec->type,
		.config = spec->config,
		.config1 = spec->config1,
		.config2 = spec->config2,
		.exclude_kernel = spec->user_only,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, leader, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EPERM) && !spec->user_only) {
		attr.exclude_kernel = 1;
		fd = syscall(SYS_perf_event_open, &attr, tid, -1, leader, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : own_fd_move_up((int)fd);
}

/* An event with a ring. */
static int open_perf(struct tick_source *s, pid_t tid, const struct tick_spec *spec)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t n = ring_pages(spec->rate_hz);; n /= 2) {
		int fd = open_event(tid, spec, n * page);
		int counter = fd >= 0 && spec->look_ns ? open_counter(tid, spec, fd) : -1;
		void *ring;

		if (fd < 0)
			return fd;
		if (spec->look_ns && counter < 0) {
			close(fd);
			return counter;
		}
		ring = mmap(NULL, (n + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (ring != MAP_FAILED) {
			s->fd = fd;
			if (ioctl(fd, PERF_EVENT_IOC_ID, &s->id))
				s->id = 0;
			if (counter >= 0 && ioctl(counter, PERF_EVENT_IOC_ID, &s->counter_id))
				s->counter_id = 0;
			s->counter_fd = counter;
			s->ring = ring;
			s->ring_bytes = n * page;
			return 0;
		}

		int e = errno;

		close(fd);
		if (counter >= 0)
			close(counter);
		if (n == 1)
			return -e;
	}
}

int source_open(struct tick_source *s, pid_t tid, const struct tick_spec *spec)
{
	int r;

	*s = (struct tick_source){.next = s->next,
				  .tid = tid,
				  .fd = -1,
				  .counter_fd = -1,
				  .period = spec->period,
				  .looks = spec->look_ns != 0,
				  .weighted = spec->weighted,
				  .whole_only = spec->whole_only,
				  .user_only = spec->user_only};
	r = open_perf(s, tid, spec);
	/* forbidden, or its memory is used up; ENOSYS and EPERM are also
	 * what seccomp filters say */
	if (spec->is_clock && (r == -EACCES || r == -EPERM || r == -ENOSYS || r == -EMFILE))
		r = source_timer_open(s, tid, spec);
	return r;
}

/* What a record counts for (PAPI_PROFIL_WEIGHTED, see papi.h): how late it is, when the count has
 * GROWN since the last tick.  A record without look_ns is late by less than a period; whole periods
 * before it belong to records that are missing. */
static uint64_t weight_of(const struct tick_source *s, uint64_t grown)
{
	const uint64_t late = grown < s->period ? 0
			      : s->looks	? grown - s->period
						: grown % s->period;
	const uint64_t n =
		late > s->period ? 255 : (uint64_t)((unsigned __int128)late * 255 / s->period);

	return n ? n : 1;
}

void source_give(struct tick_source *s, uint64_t count, uint64_t pc, uint64_t n_most, tick_fn *tick,
		 void *ctx)
{
	const uint64_t grown = count - s->n_counts;
	const uint64_t n = s->looks ? grown >= s->period : (grown + s->period / 2) / s->period;
	const uint64_t placed = n < n_most ? n : n_most;

	if (count < s->n_counts || !n)
		return;
	s->n_counts = s->looks ? count : s->n_counts + n * s->period;
	s->n_ticks += placed;
	s->n_unplaced += n - placed;
	if (!placed)
		return;
	s->n_moved += placed - 1;
	s->last_pc = pc;
	tick(ctx, pc, s->weighted ? weight_of(s, grown) : placed);
}

void source_drain(struct tick_source *s, tick_fn *tick, void *ctx)
{
	struct perf_event_mmap_page *control = (struct perf_event_mmap_page *)s->ring;
	const uint8_t *data;
	uint64_t head, tail;

	if (s->fd < 0) {
		source_timer_drain(s, tick, ctx);
		return;
	}
	data = (const uint8_t *)control + control->data_offset;
	head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	tail = control->data_tail;
	while (head - tail >= sizeof(struct perf_event_header)) {
		struct sample r = {0};
		uint16_t n_bytes;

		/* records are multiples of 8 bytes and may go round the ring's end */
		memcpy(&r.header, data + (tail & (s->ring_bytes - 1)), sizeof(r.header));
		n_bytes = r.header.size;
		if (n_bytes < sizeof(r.header) || n_bytes > head - tail)
			break;
		for (uint64_t i = 8; i < n_bytes && i < sizeof(r); i += 8)
			memcpy((uint8_t *)&r + i, data + ((tail + i) & (s->ring_bytes - 1)), 8);
		if (r.header.type == PERF_RECORD_SAMPLE && r.words[s->looks ? 3 : 1])
			source_give(s, r.words[s->looks ? 2 : 0], r.words[s->looks ? 4 : 2], 1,
				    tick, ctx);
		tail += n_bytes;
	}
	__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
}

void source_drain_last(struct tick_source *s, tick_fn *tick, void *ctx)
{
	uint64_t count;

	if (s->fd < 0) {
		source_timer_drain_last(s, tick, ctx);
		return;
	}
	source_drain(s, tick, ctx);
	if (!s->n_ticks || s->looks || source_read(s, &count) < 0 || count < s->n_counts)
		return;
	if (s->whole_only)
		count -= (count - s->n_counts) % s->period;
	source_give(s, count, s->last_pc, count - s->n_counts < s->period, tick, ctx);
}

int source_read(const struct tick_source *s, uint64_t *ret_count)
{
	if (s->fd < 0)
		return source_timer_read(s, ret_count);
	if (!is_event(s->fd, s->id) || (s->looks && !is_event(s->counter_fd, s->counter_id)))
		return -EBADF;
	return read(s->looks ? s->counter_fd : s->fd, ret_count, sizeof(*ret_count)) ==
			       sizeof(*ret_count)
		       ? 0
		       : -errno;
}

bool source_can_pause(const struct tick_source *s)
{
	return s->fd >= 0 && !s->looks;
}

void source_pause(const struct tick_source *s)
{
	if (is_event(s->fd, s->id))
		ioctl(s->fd, PERF_EVENT_IOC_DISABLE, 0);
}

bool source_go_on(const struct tick_source *s)
{
	return is_event(s->fd, s->id) && ioctl(s->fd, PERF_EVENT_IOC_ENABLE, 0) >= 0;
}

bool source_has_ended(const struct tick_source *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};

	if (s->fd < 0)
		return source_timer_has_ended(s);
	if (poll(&p, 1, 0) != 1 || !(p.revents & (POLLHUP | POLLNVAL)))
		return false;
	/* the event goes on while its ring is mapped */
	return is_event(s->fd, s->id) ? p.revents & POLLHUP : source_timer_has_ended(s);
}

void source_close(struct tick_source *s)
{
	if (s->fd < 0) {
		source_timer_close(s);
		return;
	}
	munmap(s->ring, s->ring_bytes + (size_t)sysconf(_SC_PAGESIZE));
	close_event(s);
	*s = (struct tick_source){.next = s->next, .fd = -1};
}

void source_forget(struct tick_source *s)
{
	/* rings are not copied to a new process (VM_DONTCOPY), and timers are not inherited */
	if (s->fd >= 0)
		close_event(s);
	else
		source_timer_forget(s);
	*s = (struct tick_source){.next = s->next, .fd = -1};
}
