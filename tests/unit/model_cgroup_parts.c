/* SPDX-License-Identifier: BSD-2-Clause */
/* Units and containers out of the paths of cgroups, as systemd and engines of containers make them;
 * the same cases as tests/ui/parts.mjs. */
#include "model/cgroup_parts.h"

#include <string.h>

#include "t.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void says(void (*add)(struct str *s, const char *path), const char *path, const char *part)
{
	_str_ struct str s = {0};

	add(&s, path);
	EXPECT(strcmp(str_get(&s), part) == 0);
}

TEST(units)
{
	says(cgroup_add_unit, "/system.slice/nginx.service", "nginx.service");
	says(cgroup_add_unit, "/system.slice/nginx.service/worker", "nginx.service");
	says(cgroup_add_unit, "/user.slice/user-1000.slice/session-3.scope", "session-3.scope");
	says(cgroup_add_unit, "/user.slice/user@1000.service/app.slice/app-editor.scope",
	     "app-editor.scope");
	says(cgroup_add_unit, "/user.slice/user-1000.slice", "user-1000.slice");
	says(cgroup_add_unit, "/", "");
	says(cgroup_add_unit, "", "");
	says(cgroup_add_unit, "/lxc/.service", "");
}

TEST(containers)
{
	says(cgroup_add_container, "/system.slice/docker-" ID ".scope", "docker-0123456789ab");
	says(cgroup_add_container, "/docker/" ID, "0123456789ab");
	says(cgroup_add_container, "/docker/" ID "/init.scope", "0123456789ab");
	says(cgroup_add_container,
	     "/kubepods.slice/kubepods-pod7d1f.slice/cri-containerd-" ID ".scope",
	     "cri-containerd-0123456789ab");
	says(cgroup_add_container, "/kubepods/besteffort/pod7d1f/" ID, "0123456789ab");
	says(cgroup_add_container, "/machine.slice/libpod-" ID ".scope/container",
	     "libpod-0123456789ab");
	says(cgroup_add_container, "/lxc/web1", "web1");
	says(cgroup_add_container, "/lxc.payload.web1/system.slice/cron.service",
	     "lxc.payload.web1");
	says(cgroup_add_container, "/system.slice/nginx.service", "");
	says(cgroup_add_container, "/0123456789abcdef0123456789abcde", "");
	says(cgroup_add_container, "", "");
	says(cgroup_add_container, "//", "");
}

static void has_id(const char *path, const char *id)
{
	size_t n = 0;
	const char *got = cgroup_container_id(path, &n);

	EXPECT(id ? got && n == strlen(id) && memcmp(got, id, n) == 0 : !got);
}

TEST(ids)
{
	has_id("/kubepods.slice/kubepods-pod7d1f.slice/cri-containerd-" ID ".scope", ID);
	has_id("/docker/" ID "/init.scope", ID);
	has_id("/machine.slice/libpod-" ID ".scope/container", ID);
	has_id("/machine.slice/libpod-conmon-" ID ".scope", NULL);
	has_id("/crio-conmon-" ID, NULL);
	has_id("/docker/0123456789abcdef0123456789abcdef", NULL);
	has_id("/lxc/web1", NULL);
	has_id("", NULL);
}
