# SPDX-License-Identifier: BSD-2-Clause
"""A fleet's database in Debian's clickhouse-server (packages.services): what is shipped is read back as it
was, each sample once, whatever is killed."""
import fcntl
import glob
import os
import pathlib
import random
import re
import socket
import threading
import urllib.request

from clickhouse import *

HOSTILE = "x');DROP/**/TABLE/**/counts;--\\'\"%_"


def comes_back_as_it_was():
    """Two hosts; a second pass sends nothing, one without memory neither; readers see what the database has."""
    s = Server()
    epoch(1)
    said = ship(s, fails=True)
    check("no tables of dwell" in said and "--create" in said, said)
    total = 65 + epoch(2, "web2")
    first = ship(s, "--create")
    check(first["samples"] == total and first["segments"] == 2, first)
    check(ship(s)["known"] == 2 and ship(s, "--again")["samples"] == 0, "a second pass sends nothing")
    os.remove("state")
    check(ship(s)["segments"] == 0, "without its memory it asks")
    check(stacks(s.db, "--epoch", "all") == stacks("db", "--epoch", "all"), "stacks")
    for by in "procedure", "image", "comm", "label":
        mine, theirs = (json.loads(sh(DWELL, "prof", "--json", "--by", by, "--epoch", "all", "--db", db)) for db in ("db", s.db))
        check(mine["rows"] == theirs["rows"] and mine["events"] == theirs["events"], (mine, theirs))
    check(n_samples(s.db, "--epoch", "all", "--host", "web[2-9]") == total - 65, "of one host")
    check(n_samples(s.db, "--since", "2021-01-01 02:30") == total - 65, "since a time")
    for words in (["prof"], ["tree"], ["hot"], ["diff", s.db]):
        check(dwell(*words, s.db).returncode in (0, 1), words)
    check(dwell("flame", "-o", "x.svg", s.db).returncode == 0, "flame")
    os.environ["DWELL_LOGIN"] = s.dir + "/looker"
    check(n_samples(s.db, "--epoch", "all") == total, "a user who may only read")
    s.kill()


POD = "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod7d1f.slice/cri-containerd-%064x.scope"


def each_command_asks_a_fleet():
    """Rows by host, unit and container; times and hosts compared; what there is; the page; and what a fleet's database lacks."""
    s = Server()
    web1 = epoch(1, "web1", "- - comm=server cgroup=/system.slice/nginx.service/worker")
    web2 = epoch(2, "web2", "- - comm=server cgroup=/system.slice/nginx.service/worker") + epoch(30, "web2", "- - comm=server cgroup=" + POD % 0x1234)
    later = sum(30 + i + 1 for i in range(10))
    ship(s, "--create")
    check(rows(s.db, "host") == {"web1": web1, "web2": web2}, rows(s.db, "host"))
    unit, container = "nginx.service", "cri-containerd-000000000000"
    check(rows(s.db, "unit") == {unit: web1 + web2 - later, "cri-containerd-%064x.scope" % 0x1234: later}, rows(s.db, "unit"))
    check(rows(s.db, "container") == {container: later, None: web1 + web2 - later} == rows("db", "container"), rows(s.db, "container"))
    check(rows(s.db, "host,unit")["web2", unit] == web2 - later, rows(s.db, "host,unit"))
    check(rows(s.db, "host", "--since", "2021-01-02") == {"web2": later}, "since a time")
    check(rows(s.db, "host", "--host", "web1") == {"web1": web1}, "of one host")
    p = dwell("tree", "--json", "--by", "host,procedure", "--epoch", "all", s.db)
    check(p.returncode == 0 and {r["name"] for r in json.loads(p.stdout)["rows"] if r["depth"] == 0} == {"web1", "web2"}, p.stdout[:400])
    p = dwell("flame", "--by", "host", "--epoch", "all", "-o", "x.svg", s.db)
    check(p.returncode == 0 and "web2" in open("x.svg").read(), p.stderr)
    for sets in (["host=web1 epoch=all", "host=web2 epoch=all"], ["until=20210101023000", "since=20210102"]):
        p = dwell("diff", "--all", "--json", "--db", s.db, *sets)
        check(p.returncode in (0, 1) and json.loads(p.stdout)["rows"], (sets, p.stdout[:900], p.stderr))
        check(dwell("stats", "--db", s.db, *sets).returncode == 0, ("stats", sets))
    p = dwell("epochs", "--json", s.db)
    check([(r["host"], r["samples"], r["state"]) for r in json.loads(p.stdout)["rows"]]
          == [("web1", web1, "shipped"), ("web2", web2 - later, "shipped"), ("web2", later, "shipped")], p.stdout)
    check("web1" not in dwell("epochs", "--host", "web2", s.db).stdout, "epochs of one host")
    for words, says in ((["prof", "--by", "host", "--epoch", "all", "--db", "db"], "only a fleet's database"), (["stats", "--each", "--db", s.db], "fleet's database"),
                        (["epochs", "--minutes", s.db], "fleet's database"), (["prof", "--db", s.db, "--stat", "mean"], "HPCToolkit"), (["check", s.db], "fleet's database"),
                        (["tar", "-o", "x.tar", "--db", s.db], "fleet's database"), (["gc", "--db", s.db], "fleet's database")):
        p = dwell(*words)
        check(p.returncode == 2 and says in p.stderr and p.stderr.count("\n") == 1, (words, p.returncode, p.stderr))
    page = subprocess.Popen([DWELL, "web", "--listen", "127.0.0.1:0", s.db], stdout=subprocess.PIPE, text=True)
    try:
        address, token = page.stdout.readline().strip().split("#token=")
        for question in ("prof?by=host&epoch=all", "epochs"):
            r = urllib.request.Request(address + "api/" + question, headers={"X-Dwell-Token": token})
            answer = urllib.request.urlopen(r, timeout=60).read().decode()
            check("web2" in answer, answer[:400])
    finally:
        page.send_signal(signal.SIGTERM)
        check(page.wait(60) == 0, "the page's server ends")
    s.kill()


def containers_have_names():
    """What runtimes said of containers goes with samples; tables of version 1 are brought to this one."""
    s = Server()
    epoch(1)
    for statement in dwell("ship", "--schema").stdout.split(";\n")[:-1]:
        if "containers" not in statement:
            s.ask(re.sub(r"VALUES \(\d+\)", "VALUES (1)", statement))
    said = ship(s, fails=True)
    check("version 1" in said and "--create" in said, said)
    ids = ["%064x" % i for i in range(3)]
    lines = ["recording web1 1609480000", "meta web1 1609480000 60 server", "event cycles 1000", "image file /usr/bin/server"]
    for i, name in enumerate(("web", HOSTILE)):
        lines += ["container %s name=%s pod=p%d namespace=shop version=7" % (ids[i], name, i)]
    for i, id in enumerate(ids):
        lines += ["owner - - comm=server cgroup=/docker/" + id, "sample 2000 %d" % (i + 1)]
    subprocess.run([MKDB, "db"], input="\n".join(lines) + "\n", text=True, check=True)
    ship(s, "--create")
    check(s.ask("SELECT count() FROM containers") == "2", "rows of containers")
    for key in "container", "pod", "namespace", "container,version":
        got = rows(s.db, key)
        check(got == rows("db", key), "by %s: %s" % (key, got))
    check(rows(s.db, "container")["web"] == 1 and rows(s.db, "container")[HOSTILE] == 2, rows(s.db, "container"))


def of_a_program(n, path):
    """An epoch of a sample in main() of the program PATH, and of one that no name will ever be known of."""
    main = next(line.split()[0] for line in sh("nm", path).splitlines() if line.endswith(" T main"))
    text = f"recording web1 {1609459200 + n * 3600}\nmeta web1 {1609459200 + n * 3600} 3600 prog\nevent cycles 1000\nimage file {path}\n"
    subprocess.run([MKDB, "db"], input=text + f"owner - - comm=prog\nsample {main} 3\nsample 7fff00000000 2\n", text=True, check=True)


def names_come_later():
    """Symbols that are kept after their samples were shipped: the names are sent then, once, also when the pass that shipped the samples was killed."""
    s = Server()
    program = os.path.abspath("prog")
    shutil.copy(MKDB, program)
    of_a_program(1, program)
    os.rename(program, "away")
    ship(s, "--create")
    check("main" not in rows(s.db, "procedure") and ship(s)["named"] == 0, "no name is known")
    os.rename("away", program)
    check("main" in rows("db", "procedure"), "a reader here keeps them")
    os.rename(program, "away")
    said = ship(s)
    check(said["named"] == 1 and said["segments"] == 0 and rows(s.db, "procedure") == rows("db", "procedure"), (said, rows(s.db, "procedure")))
    check(ship(s)["named"] == 0 == ship(s, "--again")["named"], "once")
    check(s.ask("SELECT count() FROM batches") == "1", "nothing else was sent")
    shutil.rmtree("db/images")
    os.rename("away", program)
    of_a_program(2, program)
    os.rename(program, "away")
    s.ask("TRUNCATE TABLE places")
    killed = Proxy(s, lambda path, body: p.kill() if "INSERT" in path and "batches" in path else None)
    p = subprocess.Popen([DWELL, "ship", "--db", "db", "--state", "state", "--to", killed.url])
    check(p.wait(120) == -signal.SIGKILL, "the pass was killed")
    wait_for(lambda: s.visible() == 10, "the samples, which came nevertheless")
    os.rename("away", program)
    rows("db", "procedure")
    os.rename(program, "away")
    said = ship(s)
    check(said["named"] == 1 and said["segments"] == 0 and rows(s.db, "procedure") == rows("db", "procedure"), (said, rows(s.db, "procedure")))
    s.kill()


def names_wait_for_the_recorder():
    """While a recorder runs it keeps symbols itself: a pass reads no program's file, and sends the names when they are kept, or when the recorder has ended."""
    s = Server()
    program = os.path.abspath("prog")
    shutil.copy(MKDB, program)
    def unnamed(n):
        of_a_program(n, program)
        epoch = sorted(glob.glob("db/epochs/*/*"))[-1]
        recorder = os.open(epoch, os.O_RDONLY)
        fcntl.flock(recorder, fcntl.LOCK_EX)
        ship(s, *(["--create"] * (n == 1)))
        check((named(), ship(s)["named"]) == ("0", 0), (named(), open("state").read()))
        return recorder
    named = lambda: s.ask("SELECT count() FROM places WHERE name = 'main'")
    recorder = unnamed(1)
    rows("db", "procedure")
    said = ship(s)
    check(said["named"] == 1 and said["segments"] == 0 and named() == "1", said)
    os.close(recorder)
    check(ship(s)["named"] == 0, "once")
    shutil.rmtree("db")
    os.remove("state")
    s.ask("TRUNCATE TABLE places")
    os.close(unnamed(2))
    said = ship(s)
    check(said["named"] == 1 and said["segments"] == 0 and named() == "1", said)
    check(ship(s)["named"] == 0, "once")
    s.kill()


def merged_segments_count_once():
    """What a daemon flushes is shipped, and again when it is merged: the later state replaces the earlier."""
    s = Server()
    d = subprocess.Popen([DWELL, "daemon", "--no-pin", "-e", "cpu-clock", "-c", "1000003", "db"], stderr=open("log", "w"))
    wait_for(lambda: d.poll() is not None or dwell("ctl", "--db", "db", "status").returncode == 0, "the daemon")
    superseded, options = 0, ["--create"]
    for _ in range(3):
        with running("sh", "-c", "while :; do :; done"):
            time.sleep(longer(1))
        check(dwell("ctl", "--db", "db", "flush").returncode == 0, open("log").read())
        superseded += ship(s, *options)["superseded"]
        options = []
    d.send_signal(signal.SIGTERM)
    check(d.wait(60) == 0, open("log").read())
    superseded += ship(s)["superseded"]
    check(superseded > 0, "segments were merged between passes")
    # Idle CPUs' samples are in no folded path.
    found = [s.visible()] + [json.loads(sh(DWELL, "prof", "--json", "--epoch", "all", "--db", db))["events"][0]["samples"] for db in (s.db, "db")]
    check(found[0] == found[1] == found[2], "each sample once: rows, read from there, here: %s" % found)
    check(n_samples(s.db, "--epoch", "all") == n_samples("db", "--epoch", "all"), "and each path")
    s.kill()


def once_whatever_is_killed():
    """The client and the server, killed at random moments."""
    s = Server()
    total, n_kills = 0, {"client": 0, "server": 0}
    for i in range(16):
        total += sum(epoch(12 * i + n) for n in range(12))
        p = subprocess.Popen([DWELL, "ship", "--again", "--db", "db", "--state", "state", "--to", s.url, "--create"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0.02, 0.25))
        if p.poll() is None:
            n_kills["server" if i % 3 == 2 else "client"] += 1
            (s if i % 3 == 2 else p).kill()
        p.wait(120)
        if s.process.poll() is not None:
            s.start()
        if s.ask("EXISTS TABLE schema_version") == "1":  # it is made last
            check(s.visible() <= total, "never too many")
    ship(s, "--create", "--again")
    attempts = int(s.ask("SELECT uniqExact(batch) FROM counts"))
    note("%s, %d batches, %d rows" % (n_kills, attempts, int(s.ask("SELECT count() FROM counts"))))
    enough(sum(n_kills.values()), 5, "kills while it ships")
    check(s.visible() == total, "%d samples of %d" % (s.visible(), total))
    check(stacks(s.db, "--epoch", "all") == stacks("db", "--epoch", "all"), "stacks")
    s.kill()


def what_is_refused():
    """A wrong password, an older copy of the database, another schema, a server that is down, slow or cuts its answer."""
    s = Server()
    epoch(1)
    check("user or password refused" in ship(s, "--login", s.dir + "/wrong", fails=True), "a wrong password")
    check("database" in ship(s, "--to-db", "nowhere", fails=True).lower(), "no such database")
    ship(s, "--create")
    s.ask("INSERT INTO schema_version VALUES (99)")
    check("version 99" in ship(s, fails=True), "a newer schema")
    p = dwell("prof", "--db", s.db)
    check(p.returncode == 2 and "version 99" in p.stderr, p.stderr)
    s.ask("DROP TABLE schema_version")
    check("no tables of dwell" in ship(s, fails=True), "no schema")
    ship(s, "--create")
    shutil.copytree("db", "older")
    s.ask("INSERT INTO batches SELECT day, host, epoch, recording, segment, generation + 1, batch, n_values, samples, start_ns, end_ns FROM batches")
    check("later state" in ship(s, "--again", fails=True), "an older copy")
    check(s.visible() == 65, "nothing was taken away")
    s.kill()
    check("connect" in ship(s, "--again", fails=True).lower(), "a server that is down")
    with socket.socket() as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        silent.bind(("127.0.0.1", s.http))
        silent.listen(5)
        check("no answer within" in ship(s, "--again", "--timeout", "1s", fails=True), "a server that is slow")
        silent.accept()[0].close()
        for answer in (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\1\1", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\1\1", b"", b"junk\r\n"):
            cutter = threading.Thread(target=cut, args=(silent, answer))
            cutter.start()
            ship(s, "--again", "--timeout", "20s", fails=True)
            cutter.join()


def cut(listening, answer):
    c, _ = listening.accept()
    c.recv(65536)
    c.sendall(answer)
    c.close()


def a_full_server_takes_it_later():
    """A table that refuses rows: the recording is named, the others go on, and it comes when there is room."""
    s = Server()
    epoch(1)
    ship(s, "--create")
    total = 65 + epoch(2)
    s.ask("RENAME TABLE losses TO away")
    said = ship(s, fails=True)
    check("losses" in said and "1 of 2 recordings were not shipped" in said, said)
    check(s.visible() == 65, "nothing of it counts")
    s.ask("RENAME TABLE away TO losses")
    ship(s)
    check(s.visible() == total, "later it does")
    s.kill()


def a_damaged_recording_is_set_aside():
    """A segment that is damaged here: its recording is named, the others go on."""
    s = Server()
    epoch(1)
    segment = next(pathlib.Path("db/epochs").glob("*/*/*.seg"))
    total = epoch(2)
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-40] + bytes(40))
    said = ship(s, "--create", fails=True)
    check("1 of 2 recordings were not shipped" in said and segment.parent.name in said, said)
    check(s.visible() == total, "the other one counts")
    segment.write_bytes(whole)
    ship(s)
    check(s.visible() == total + 65, "and this one, made whole")
    s.kill()


def names_are_no_sql():
    """Names made to be statements come back as they are."""
    s = Server()
    host = HOSTILE.replace("/", "_")
    total = epoch(1, host, "- %s comm=%s exe=%s cgroup=/%s" % (HOSTILE, HOSTILE, HOSTILE, HOSTILE))
    ship(s, "--create")
    check(s.visible() == total, "it counts")
    p = json.loads(sh(DWELL, "prof", "--json", "--by", "label", "--epoch", "all", "--db", s.db))
    check([r["label"] for r in p["rows"]] == [HOSTILE], p["rows"])
    check(n_samples(s.db, "--epoch", "all", "--host", host.replace("\\", "\\\\")) == total, "chosen by name")
    p = dwell("prof", "--db", s.db, "--host", "' OR 1=1 --")
    check(p.returncode == 2 and "no host is called" in p.stderr, p.stderr)
    s.kill()


def refused_for_ever():
    """A segment that the server never takes is set aside and named; what comes with it and after it goes on.  A server that is short of memory or disk sets nothing aside."""
    s = Server()
    p = Proxy(s, lambda path, body: b"Code: 117, e.displayText() = DB::Exception: no\n" if b"counts" in path.encode() and b"web2" in body else None)
    total = epoch(1) + epoch(3)
    epoch(2, "web2")
    for i in range(3):
        said = ship(p, *["--create"][i:], fails=i < 2)
        check(i == 2 or "000001.seg" in said and "Code: 117" in said, said)
        check(s.visible() == total, "the others count")
    check(said["set_aside"] == 1, said)
    total += epoch(4)
    check(ship(p)["set_aside"] == 1, "it is still named")
    check(s.visible() == total, "what came later counts")
    total += epoch(5)
    for said in (b"Code: 243, e.displayText() = DB::Exception: Cannot reserve 1 MiB, not enough space\n",
                 b"Code: 241. DB::Exception: Memory limit, exceeded\n",
                 b"Code: 75, e.displayText() = DB::ErrnoException: Cannot write to file data/t/id.mrk, errno: 28, strerror: No space left on device\n"):
        p.refuses = lambda path, body: said if "counts" in path else None
        for _ in range(4):
            check(said.split(b",")[-1].strip().decode() in ship(p, fails=True), "a full disk")
    p.refuses = lambda path, body: None
    check(ship(p)["segments"] == 1 and s.visible() == total, "there is room again")
    check(ship(p, "--again")["segments"] == 1 and s.visible() == total + 75, "what was set aside is tried when asked")


def the_outbox_is_bounded():
    """The database is what keeps things; what its retention removes unshipped is named with its samples."""
    s = Server()
    total = epoch(1)
    ship(s, "--create")
    s.kill()
    epoch(2, "web2")
    epoch(3)
    ship(s, fails=True)
    ship(s, fails=True)
    shutil.rmtree(next(pathlib.Path("db/epochs").glob("*/web2")))
    said = ship(s, fails=True)
    check("web2: was removed before all of its 75 samples were shipped" in said and "web1" not in said, said)
    s.start()
    check(ship(s)["overflowed"] == 0 and s.visible() == total + 85, "the rest is there")


def ends_with_tls():
    """A certificate that nobody vouches for is refused, by readers too; with its authority all works."""
    s = Server()
    sh("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost",
       "-addext", "subjectAltName=DNS:localhost")
    p = Proxy(s, tls=True)
    total = epoch(1)
    check("certificate" in ship(p, "--create", fails=True).lower(), "not verified")
    ship(p, "--create", "--ca", "cert.pem")
    check("certificate" in dwell("prof", "--db", p.db).stderr.lower(), "a reader")
    os.environ["DWELL_CA"] = os.path.abspath("cert.pem")
    try:
        check(n_samples(p.db, "--epoch", "all") == total, "a reader with the authority")
    finally:
        del os.environ["DWELL_CA"]


def old_days_are_dropped():
    """--retain drops days as a whole, and nothing of them comes again."""
    s = Server()
    epoch(1)
    now = int((time.time() - 1609459200) / 3600) - 30
    text = epoch(now)
    ship(s, "--create", "--rollup")
    check(s.ask("SELECT uniq(day) FROM daily") == "2", "two days' sums")
    ship(s, "--again", "--retain", "30d")
    check(s.ask("SELECT uniq(day) FROM daily") == "1" == s.ask("SELECT uniq(day) FROM rolled"), "their sums")
    check(n_samples(s.db, "--since", "10000d") == text, "read from there")
    check(s.visible() == text, "%d of %d" % (s.visible(), text))
    check([r["samples"] for r in json.loads(sh(DWELL, "epochs", "--json", s.db))["rows"]] == [text], "epochs")
    os.remove("state")
    check(ship(s, "--retain", "30d")["segments"] == 0 and s.visible() == text, "again")


def a_pass_every_second():
    """Options of a file; passes that go on over a server's death, and end by a signal."""
    s = Server()
    ship_file = "to %s\nevery 1s\ncreate\nstate state\nlogin %s\n" % (s.url, os.environ["DWELL_LOGIN"])
    open("ship.conf", "w").write("# three lines are enough\n" + ship_file)
    total = epoch(1)
    p = subprocess.Popen([DWELL, "ship", "--config", "ship.conf", "--db", "db"], stdout=subprocess.DEVNULL, stderr=open("said", "w"))
    def arrived():
        try:
            return s.ask("EXISTS TABLE schema_version") == "1" and s.visible() == total
        except (urllib.error.URLError, ConnectionError):
            return False
    wait_for(arrived, "the first pass")
    s.kill()
    wait_for(lambda: "onnect" in open("said").read(), "a pass in vain")
    total += epoch(2)
    s.start()
    wait_for(arrived, "a later pass", 120)
    p.send_signal(signal.SIGTERM)
    check(p.wait(60) == 0, open("said").read())
    open("ship.conf", "w").write("nonsense 1\n")
    p = dwell("ship", "--config", "ship.conf")
    check(p.returncode == 2 and "nonsense" in p.stderr and p.stderr.count("\n") == 1, p.stderr)


def told_once():
    """Passes of one process tell a server each thing once, and all of it anew when the server was started again."""
    s = Server()
    epoch(1)
    ship(s, "--create")
    p = subprocess.Popen([DWELL, "ship", "--every", "1s", "--db", "db", "--state", "state", "--to", s.url], stdout=subprocess.DEVNULL, stderr=open("said", "w"))
    total = 65 + epoch(2)
    wait_for(lambda: s.visible() == total, "the second")
    total += epoch(3)
    wait_for(lambda: s.visible() == total, "the third")
    for table in "images", "owners", "contexts", "places":
        check(s.ask("SELECT count() <= 2 * uniqExact(%s) FROM %s" % ("svma" if table == "places" else "id", table)) == "1", table + ": told by two processes, once each")
    wait_for(lambda: int(s.ask("SELECT uptime()")) >= 3, "the server to be older than its clock is exact")
    p.send_signal(signal.SIGSTOP)
    s.ask("TRUNCATE TABLE images")
    s.kill()
    s.start()
    p.send_signal(signal.SIGCONT)
    total += epoch(4)
    wait_for(lambda: s.visible() == total, "the fourth", 120)
    p.send_signal(signal.SIGTERM)
    check(p.wait(60) == 0, open("said").read())
    check(stacks(s.db, "--epoch", "all") == stacks("db", "--epoch", "all"), "stacks")
    s.kill()


def hosts_that_are_odd():
    """Two shippers of one database at once, hosts with the same name, and clocks years apart."""
    s = Server()
    total = epoch(1)
    ship(s, "--create")
    shutil.copytree("db", "copy")
    total += epoch(2)
    subprocess.run(["cp", "-a", "db/.", "copy"], check=True)
    both = [subprocess.Popen([DWELL, "ship", "--db", db, "--state", "state-" + db, "--again", "--to", s.url], stdout=subprocess.DEVNULL) for db in ("db", "copy")]
    check([p.wait(120) for p in both] == [0, 0], "both end well")
    check(s.visible() == total, "each sample once: %d of %d" % (s.visible(), total))
    total += epoch(2, "web1", db="other")
    check(dwell("ship", "--db", "other", "--state", "o", "--to", s.url).returncode == 0, "another host of that name")
    check(s.visible() == total, "both count: %d of %d" % (s.visible(), total))
    total += epoch(24 * 365 * 30, "late")
    ship(s)
    check(s.visible() == total and n_samples(s.db, "--epoch", "all") == total, "a clock 30 years ahead")
    check(n_samples(s.db) == total, "the last day is not that clock's: %d of %d" % (n_samples(s.db), total))
    check(n_samples(s.db, "--epoch", "all", "--host", "web1") == total - n_samples(s.db, "--epoch", "all", "--host", "late"), "the others")


def two_shards_are_one_fleet():
    """Hosts ship to a shard each; a database over both shards answers as one database with all of them does."""
    other = Server()
    s = Server([other])
    hosts = {"web1": s, "web2": other}
    for n, host in enumerate(hosts):
        for db in "db-" + host, "both":
            epoch(n, host, "- - comm=server cgroup=/system.slice/%s.service" % host, db=db)
        for again in range(2):
            check(dwell("ship", "--create", "--rollup", "--db", "db-" + host, "--state", "s" + host, "--again", "--to", hosts[host].url).returncode == 0, host)
    s.ask("CREATE DATABASE whole", database="default")
    for statement in sh(DWELL, "ship", "--schema", "--cluster", "shards", "--to-db", "fleet").split(";\n")[:-1]:
        s.ask(statement, database="whole")
    whole = s.db.replace("/fleet", "/whole")
    check(stacks(whole, "--epoch", "all") == stacks("both", "--epoch", "all"), "stacks")
    for by in "procedure", "image", "unit", "comm":
        check(rows(whole, by) == rows("both", by), by)
    check(rows(whole, "host") == {"web1": 55, "web2": 65}, rows(whole, "host"))
    check(n_samples(whole, "--epoch", "all", "--host", "web2") == 65, "one host")
    check(s.ask("SELECT count() FROM rollups", database="whole") == "2", "sums of both shards")
    epoch(2, "web2", db="db-web2")
    epoch(2, "web2", db="both")
    check(dwell("ship", "--db", "db-web2", "--state", "sweb2", "--to", other.url).returncode == 0, "later values")
    check(stacks(whole, "--epoch", "all") == stacks("both", "--epoch", "all"), "stacks with sums and values")
    def compared(db):
        p = dwell("diff", "--json", "--all", "--by", "image", "--db", db, "host=web1 epoch=2021", "host=web2 epoch=2021")
        check(p.returncode in (0, 1), p.stderr)
        return [(r["image"], r["a"], r["b"]) for r in json.loads(p.stdout)["rows"]]
    check(compared(whole) == compared("both") and compared(whole)[0][1:] == (55, 65 + 75), (compared(whole), compared("both")))
    check(dwell("ship", "--schema", "--cluster", "a;b").returncode == 2, "a name that is none")
    s.kill()
    other.kill()


def dashboards_ask_what_there_is():
    """Grafana's dashboards: the SQL runs, and each series of Prometheus is one that a daemon shows, with who used the CPUs."""
    s = Server()
    epoch(1)
    total = 65 + epoch(2, "web2", "- - comm=server cgroup=/system.slice/nginx.service/worker")
    ship(s, "--create")
    examples = pathlib.Path(__file__).parent / "../../examples/grafana"
    samples = {}
    for panel in json.loads((examples / "clickhouse.json").read_text())["panels"]:
        sql = panel["targets"][0]["rawSql"]
        for macro, value in (("$__timeFilter(t)", "t >= toDateTime('2020-01-01 00:00:00')"), ("${host:singlequote}", "'web1','web2'"), ("${event:singlequote}", "'cycles'")):
            sql = sql.replace(macro, value)
        check("$" not in sql, sql)
        samples[panel["title"]] = s.ask(sql).splitlines()
    check(samples["Services"] == ["nginx\t1\t75", "server\t1\t65"] and samples["Programs and libraries"] == ["/usr/bin/server\t%d" % total], samples)
    check(sum(int(line.split("\t")[-1]) for line in samples["Procedures"]) == total and len(samples["Samples by host"]) == 2, samples)
    d = subprocess.Popen([DWELL, "daemon", "--no-pin", "-F", "997", "--journal", "1s", "--http", str(free_port()), "live"], stderr=open("log", "w"))
    try:
        port = d.args[d.args.index("--http") + 1]
        def metrics():
            try:
                return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
            except (urllib.error.URLError, ConnectionError):
                return ""
        with running("sh", "-c", "while :; do :; done"):
            wait_for(lambda: d.poll() is not None or re.search(r'^dwell_image_cpu_seconds_total\{image=".*sh"\} ', metrics(), re.M), "samples of the shell")
        text = metrics()
        for panel in json.loads((examples / "prometheus.json").read_text())["panels"]:
            name = re.search(r"dwell_\w+", panel["targets"][0]["expr"])[0]
            check("# TYPE %s " % name.removesuffix("_total") in text, (name, text[:2000]))
        for key in "unit", "container", "image":
            series = re.findall(r'^dwell_%s_samples_total\{%s="(.*)"\} \d+$' % (key, key), text, re.M)
            check(len(series) <= 51 and len(set(series)) == len(series), series)
    finally:
        d.send_signal(signal.SIGTERM)
        check(d.wait(60) == 0, open("log").read())


run(comes_back_as_it_was, each_command_asks_a_fleet, containers_have_names, names_come_later, names_wait_for_the_recorder, merged_segments_count_once, once_whatever_is_killed, what_is_refused, a_full_server_takes_it_later, a_damaged_recording_is_set_aside,
    names_are_no_sql, refused_for_ever, the_outbox_is_bounded, ends_with_tls, old_days_are_dropped, a_pass_every_second, told_once, hosts_that_are_odd, two_shards_are_one_fleet, dashboards_ask_what_there_is)
