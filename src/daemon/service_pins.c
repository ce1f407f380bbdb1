/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a service's logs are pinned, and where those of dead daemons are looked for.
 *
 * New logs go to one place.  Old ones may be in several: an earlier daemon had another --bpffs, or
 * was of version 0.1.0, which knew /sys/fs/bpf alone. */
#include <errno.h>
#include <unistd.h>

#include "daemon/service_impl.h"

static void open_fresh(struct service *v, struct err *why)
{
	struct service_pins *p = &v->pins;

	if (p->places.fresh.fd >= 0)
		pinned_base_open(&p->places.fresh, v->opts.db, true, &p->base, why);
	if (p->base.fd >= 0 && pinned_base_hold(&p->base, v->opts.db, why) < 0)
		pin_dir_close(&p->base);
}

void service_open_pins(struct service *v)
{
	struct service_pins *p = &v->pins;
	struct err why = {0};

	pin_places_open(&p->places, v->opts.bpffs, v->opts.pin, &why);
	if (v->opts.pin)
		open_fresh(v, &why);
	p->live_fd = p->base.fd >= 0 ? pinned_live(&p->base, &why) : log_make_live(NULL);
	if (p->live_fd < 0) { /* no right to use BPF, which opening the log will tell, or no pins */
		pin_dir_close(&p->base);
		p->live_fd = 0;
	}
	if (v->opts.pin && p->base.fd < 0)
		service_say(v, "sampling will not outlive this process: %s", why.msg);
	else if (v->opts.pin && *why.msg)
		service_say(v, "pins go to %s: %s", p->places.fresh.path, why.msg);
	vec_each (fs, &p->places.all) {
		struct pin_dir base = PIN_DIR_NONE;

		if (pinned_base_open(fs, v->opts.db, false, &base, &why) == -EPERM)
			service_say(v, "nothing is taken over from there: %s", why.msg);
		vec_push(&p->bases, base);
	}
}

void service_close_pins(struct service *v)
{
	struct service_pins *p = &v->pins;

	for (size_t i = 0; i < p->bases.n; i++) {
		if (p->bases.v[i].fd >= 0)
			pinned_base_remove(&p->places.all.v[i], &p->bases.v[i]);
		pin_dir_close(&p->bases.v[i]);
	}
	vec_release(&p->bases);
	if (p->live_fd > 0)
		close(p->live_fd);
	pin_dir_close(&p->base);
	pin_places_close(&p->places);
}
