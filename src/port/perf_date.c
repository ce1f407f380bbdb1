/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_date.h.
 *
 * Perf writes to its file until the last sample was taken, so the file's time of writing is the
 * last sample's.  A copy has a time of its own.  It gives itself away: perf makes its file before
 * the first sample, so that a file which was written to for a shorter time than its samples lasted
 * was not written by perf; neither was one of another host.  A short one that names no host may be
 * either, so its date is not known.  A copy that is older than it exists here has kept its
 * original's time (cp -p, tar, rsync), which is the right one.
 *
 * Example: a file of host `web1` was made here at 10:00:00.0 and written at 10:00:00.1.  Its
 * samples lasted 60 s.  When they were taken is not known. */
#include "port/perf_date.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#define NS_PER_S 1000000000ull

/* Times of files are those of the kernel's last tick. */
#define SLACK_NS (NS_PER_S / 10)

static uint64_t ns_of(const struct statx_timestamp *t)
{
	return t->tv_sec < 0 ? 0 : (uint64_t)t->tv_sec * NS_PER_S + t->tv_nsec;
}

struct perf_date perf_date_of(int fd)
{
	struct perf_date d = {0};
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		return d;
	d.is_file = S_ISREG(st.stx_mode);
	d.written_ns = ns_of(&st.stx_mtime);
	d.made_ns = st.stx_mask & STATX_BTIME ? ns_of(&st.stx_btime) : 0;
	return d;
}

/* Is the file's time another one than that of its last sample? */
static bool is_copy(const struct perf_date *d, const struct perfdata *pd, uint64_t first_ns,
		    uint64_t last_ns)
{
	struct utsname u;

	if (!d->is_file || d->made_ns > d->written_ns + SLACK_NS)
		return false;
	if (pd->host && uname(&u) >= 0 && strcmp(u.nodename, pd->host) != 0)
		return true;
	/* Nothing tells: no host, and no longer than a copy takes. */
	if (!pd->host && last_ns <= first_ns + SLACK_NS)
		return true;
	return last_ns > first_ns && d->written_ns - d->made_ns + SLACK_NS < last_ns - first_ns &&
	       d->made_ns <= d->written_ns;
}

/* The samples' clock is that of the wall itself (perf record -k realtime). */
static bool is_wall_clock(const struct perfdata *pd)
{
	const struct perfdata_attr *a = pd->events.n ? &pd->events.v[0].attr : NULL;

	return a && perfdata_attr_has(a, PERFDATA_A_USE_CLOCKID) && a->clockid == CLOCK_REALTIME;
}

bool perf_date_offset(const struct perf_date *d, const struct perfdata *pd, uint64_t first_ns,
		      uint64_t last_ns, int64_t *ret_ns)
{
	uint64_t first = pd->first_ns ? pd->first_ns : first_ns,
		 last = pd->last_ns ? pd->last_ns : last_ns;

	if (pd->has_clock)
		*ret_ns = (int64_t)(pd->wall_ns - pd->clock_ns);
	else if (is_wall_clock(pd))
		*ret_ns = 0;
	else if (pd->written_s && pd->written_s <= INT64_MAX / NS_PER_S)
		*ret_ns = (int64_t)(pd->written_s * NS_PER_S - last);
	else if (d->written_ns && !is_copy(d, pd, first_ns && first_ns < first ? first_ns : first,
					   last_ns > last ? last_ns : last))
		*ret_ns = (int64_t)(d->written_ns - last);
	else
		return false;
	return true;
}
