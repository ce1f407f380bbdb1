# Readers ask a daemon to store first what it sampled; here somebody who plays one, and tells what was asked.
make_prog
printf 'meta testhost 1763720000 2 prog\nevent cpu-clock 1000000\nimage file %s\nowner - -\nsample %s 7\n' \
	"$PWD/prog" "$(sym hot)" | mkdb db
cat >plays.py <<'END'
import os, signal, socket, sys
signal.alarm(60)  # one nobody asks does not wait for ever
s = socket.socket(socket.AF_UNIX)
s.bind("db/control." + os.uname().nodename)
s.listen(1)
print("listens", file=sys.stderr, flush=True)
for answer in sys.argv[1:]:
    c, _ = s.accept()
    print("asked:", c.recv(100).decode().strip(), flush=True)
    if answer == "silent":
        c.recv(100)  # until the reader has had enough
    else:
        c.sendall(answer.encode())
    c.close()
os.unlink("db/control." + os.uname().nodename)
END
# Plays a daemon that gives these answers, one to each who asks.
plays() {
	rm -f started
	python3 plays.py "$@" >asked 2>started &
	until [ -s started ]; do sleep 0.02; done
}
stored=$(printf 'ok 0\nx')
stored=${stored%x}
plays "$stored" "$stored" "$stored" "$stored" "$stored"
dwell prof --by image --db db --no-header
dwell top --db db >/dev/null
dwell epochs db >/dev/null
dwell diff db db >/dev/null # both sets are of one database
dwell tar --db db -o a.tar >/dev/null
wait
cat asked
# It can not, or says nothing, or what nobody understands: reading goes on.
refused=$(printf 'error db: No space left on device\nx')
strange=$(printf 'what?\nx')
plays "${refused%x}" "${strange%x}" silent
dwell prof --by image --db db --no-header
dwell prof --by image --db db --no-header
dwell prof --by image --db db --no-header
wait
cat asked
# One that would be asked, but is not.
plays "$stored"
dwell prof --by image --db db --no-header --no-flush
dwell list --db db --no-flush hot prog >/dev/null
dwell cat --db db --no-flush >/dev/null
dwell epochs --no-flush db >/dev/null
dwell tar --db db --no-flush -o a.tar >/dev/null
cat asked
dwell top --db db >/dev/null
wait
cat asked
# Nobody there, and nobody any more.
dwell prof --by image --db db --no-header
python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).bind("db/control." + os.uname().nodename)'
dwell prof --by image --db db --no-header
