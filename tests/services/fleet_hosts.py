# SPDX-License-Identifier: BSD-2-Clause
"""Two hosts, each with a network, a name and a root of its own, on which the Debian packages are installed and configured
in three lines, and a server: the fleet answers by host and unit, and is right when all parts were killed at random moments.
DEBS is a directory with the packages, where tests/services/packages.py left them; KILLS_SECONDS says for how long to kill (20)."""
import glob
import pathlib
import random
import re
import urllib.request

from clickhouse import *

SECONDS = float(os.environ.get("KILLS_SECONDS", 20))
NET = "10.%d.%%d" % (64 + os.getpid() % 128)  # of a host; another such test at the same time has others
# A root that has what this machine has, and is written to in memory only.
ROOM = """set -e
hostname %(name)s
mount --make-rprivate /
mount -t tmpfs none %(dir)s
mkdir %(dir)s/upper %(dir)s/work %(dir)s/root
mount -t overlay none -o lowerdir=/,upperdir=%(dir)s/upper,workdir=%(dir)s/work %(dir)s/root
cd %(dir)s/root
for d in proc sys dev; do mount --rbind /$d $d; done
mount -t tmpfs none -o mode=755 run; mount -t tmpfs none tmp
mkdir -p run/dwell/bpf run/lock debs
mount -t bpf none run/dwell/bpf
mount --bind %(debs)s debs
touch %(dir)s/ready
exec chroot . sleep 100000
"""


class Host:
    def __init__(self, n, server):
        self.name, self.n = "web%d" % n, n
        self.net, self.dir = "dwell-%d-%d" % (os.getpid(), n), tempfile.mkdtemp(prefix="host-", dir=os.getcwd())
        atexit.register(self.end)
        sh("ip", "netns", "add", self.net)
        sh("ip", "link", "add", "dw%dx%d" % (os.getpid() % 100000, n), "type", "veth", "peer", "name", "eth0", "netns", self.net)
        sh("ip", "addr", "add", NET % n + ".1/24", "dev", "dw%dx%d" % (os.getpid() % 100000, n))
        sh("ip", "link", "set", "dw%dx%d" % (os.getpid() % 100000, n), "up")
        for words in ("addr", "add", NET % n + ".2/24", "dev", "eth0"), ("link", "set", "eth0", "up"), ("link", "set", "lo", "up"):
            sh("ip", "-n", self.net, *words)
        self.room = subprocess.Popen(["ip", "netns", "exec", self.net, "unshare", "-m", "-u", "sh", "-c", ROOM % {"name": self.name, "dir": self.dir, "debs": os.environ["DEBS"]}])
        wait_for(lambda: self.room.poll() is not None or open("/proc/%d/comm" % self.room.pid).read() == "sleep\n", "the room of " + self.name)
        check(self.room.poll() is None, "it is there")
        said = self.sh("apt-get", "install", "-y", *("/debs/" + os.path.basename(d) for d in glob.glob(os.environ["DEBS"] + "/dwell*_*.deb") if "dbgsym" not in d))
        note(said.splitlines()[-1])
        # What an administrator writes.
        self.write("/etc/dwell/ship.conf", "to http://%s.1:%d/fleet\nlogin /etc/dwell/login\nevery 1s\n" % (NET % n, server.http))
        self.write("/etc/dwell/login", "fleet\ngeheim\n")
        self.sh("sh", "-c", "chmod 600 /etc/dwell/login; chown nobody /etc/dwell/login; mkdir -p /var/lib/dwell-ship; chown nobody /var/lib/dwell-ship; printf 'flush 2s\\njournal 1s\\n' >>/etc/dwell/dwelld.conf")
        self.parts = {"dwelld": self.start("dwelld.service", "root")}
        wait_for(self.flushed, "the daemon of " + self.name)  # the unit of the other says After=
        self.parts["ship"] = self.start("dwell-ship.service", "nobody")
        self.n_kills = {"dwelld": 0, "ship": 0}

    def enter(self, *argv):
        return ["nsenter", "--target", str(self.room.pid), "--mount", "--uts", "--net", "--root", "--wd", *argv]

    def sh(self, *argv):
        return sh(*self.enter("env", "DEBIAN_FRONTEND=noninteractive", *argv))

    def write(self, path, text):
        subprocess.run(self.enter("tee", path), input=text, text=True, stdout=subprocess.DEVNULL, check=True)

    def start(self, unit, user):
        """Runs a unit's program, as it says; there is no systemd here."""
        words = re.search("^ExecStart=(.*)", self.sh("cat", "/lib/systemd/system/" + unit), re.M)[1].split()
        as_user = ["setpriv", "--reuid", user, "--regid", "dwell", "--clear-groups"]
        return subprocess.Popen(self.enter(*as_user, *words), stdout=subprocess.DEVNULL, stderr=open(self.name + ".log", "a"))

    def kill(self, part):
        unit, user = {"dwelld": ("dwelld.service", "root"), "ship": ("dwell-ship.service", "nobody")}[part]
        self.n_kills[part] += self.parts[part].poll() is None
        self.parts[part].kill()
        self.parts[part].wait()
        self.parts[part] = self.start(unit, user)

    def flushed(self):
        return subprocess.run(self.enter("dwell", "ctl", "--db", "/var/lib/dwell", "flush"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0

    def prof(self, *options):
        return json.loads(self.sh("dwell", "prof", "--json", "--epoch", "all", "--db", "/var/lib/dwell", *options))

    def end(self):
        for p in *getattr(self, "parts", {}).values(), *([self.room] if hasattr(self, "room") else []):
            p.kill()
            p.wait()
        subprocess.run(["ip", "netns", "del", self.net], check=False)
        subprocess.run(["ip", "link", "del", "dw%dx%d" % (os.getpid() % 100000, self.n)], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.dir, True)


def named(rows):
    return sorted((str(r["comm"]), str(r.get("build_id") or r["image"]), json.dumps(r["counts"], sort_keys=True)) for r in rows)


def unit(name):
    """A process that works in a unit's group, as systemd would have made it."""
    group = os.path.join(cgroup2_mount(), name)
    os.makedirs(group, exist_ok=True)
    def end():
        p.kill()
        p.wait()
        wait_for(lambda: not open(group + "/cgroup.procs").read(), "the group to be empty")
        os.rmdir(group)
    p = subprocess.Popen(["sh", "-c", "while :; do sleep 0.01; : $((i += 1)); done"])
    atexit.register(end)
    with open(group + "/cgroup.procs", "w") as f:
        f.write(str(p.pid))


def packages_on_two_hosts():
    debs = glob.glob(os.environ.get("DEBS", "/nonexistent") + "/*.deb")
    if not debs:
        raise Skipped("DEBS names no directory of packages")
    for tool in "ip", "nsenter", "setpriv", "apt-get":
        if not shutil.which(tool):
            raise Skipped("no " + tool)
    if subprocess.run(["unshare", "-m", "-u", "-n", "mount", "-t", "tmpfs", "none", "/mnt"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skipped("this root may make no namespaces")
    s = Server(listen=("10.0.0.0/8", "0.0.0.0"))
    for statement in dwell("ship", "--schema").stdout.split(";\n")[:-1]:
        s.ask(statement)
    unit("dwell-test-%d.service" % os.getpid())
    hosts = [Host(n, s) for n in (1, 2)]
    def answers():
        p = dwell("prof", "--json", "--by", "host,unit", "--db", s.db)
        return p.returncode == 0 and {r["host"] for r in json.loads(p.stdout)["rows"]} == {"web1", "web2"}
    wait_for(answers, "rows of both hosts")
    note(dwell("prof", "--by", "host,unit", "--db", s.db).stdout[:900])
    page = subprocess.Popen([DWELL, "web", "--listen", "127.0.0.1:0", s.db], stdout=subprocess.PIPE, text=True)
    address, token = page.stdout.readline().strip().split("#token=")
    shown = urllib.request.urlopen(urllib.request.Request(address + "api/prof?by=host&epoch=all", headers={"X-Dwell-Token": token}), timeout=60).read().decode()
    check("web1" in shown and "web2" in shown, shown[:400])
    page.send_signal(signal.SIGTERM)
    check(page.wait(60) == 0, "the page's server ends")
    n_server, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(random.uniform(0.05, 1.5))
        who = random.random()
        if who < 0.85:
            random.choice(hosts).kill("ship" if who < 0.5 else "dwelld")
        else:
            s.kill()
            time.sleep(random.uniform(0, 0.5))
            s.start()
            n_server += 1
    for h in hosts:
        h.parts["ship"].kill()
        h.parts["ship"].wait()
        wait_for(h.flushed, "the last daemon of " + h.name)
        subprocess.run(h.enter("dwell", "ctl", "--db", "/var/lib/dwell", "quit"), check=False)
        check(h.parts["dwelld"].wait(120) == 0, pathlib.Path(h.name + ".log").read_text()[-400:])
        h.sh("setpriv", "--reuid", "nobody", "--regid", "dwell", "--clear-groups", "sh", "-c",
             "grep -v every /etc/dwell/ship.conf >/tmp/once; dwell ship --config /tmp/once --db /var/lib/dwell --state /var/lib/dwell-ship/state --again")
        here = h.prof("--by", "comm,image")
        there = json.loads(sh(DWELL, "prof", "--json", "--epoch", "all", "--by", "comm,image", "--host", h.name, "--db", s.db))
        samples = [{e["name"]: e["samples"] for e in p["events"]} for p in (here, there)]
        note("%s: killed %s, server %d; %s" % (h.name, h.n_kills, n_server, samples[0]))
        check(samples[0] == samples[1], samples)
        left, right = named(here["rows"]), named(there["rows"])
        check(left == right, "rows: %s" % [x for x in left if x not in right][:3] + str([x for x in right if x not in left][:3]))
        h.sh("dwell", "ctl", "--db", "/var/lib/dwell", "clean")
    s.kill()


run(packages_on_two_hosts)
