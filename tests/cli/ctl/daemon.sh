# What a daemon does not begin with.
daemon() {
	dwell daemon --no-pin "$@"
	echo "exit $?"
}
mkdir newer && echo "dwell database 999" >newer/VERSION
daemon -e cpu-clock newer
mkdir -m 777 open && chmod 777 open
daemon -e cpu-clock open
mkdir full && echo something >full/file
daemon -e cpu-clock full
daemon --freq x db
daemon -F 10 -c 10 db
daemon -e cpu-clock -slot page-faults db
daemon --flush 1ms db
daemon --mux 1ms db
daemon --max-cpu 200 db
daemon --prune 101 db
daemon --prune nan db
daemon --log-slots 100 db
daemon --max-size much db
daemon --max-age old db
daemon --config nowhere db
printf 'freq 9\nlable x\n' >conf
daemon --config conf db
daemon -e cpu-clock --exclude nowhere db
printf 'PID x\n' >exclusions
daemon -e cpu-clock --exclude exclusions db
daemon -e cpu-clock --facts nowhere db
for where in 0 host:9464 :9464 9464:127.0.0.1; do
	daemon -e cpu-clock --http "$where" db
done
# A port that somebody has: nothing is begun.
cat >taken.py <<'END'
import socket, subprocess, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
port = str(s.getsockname()[1])
p = subprocess.run(["dwell", "daemon", "--no-pin", "-e", "cpu-clock", "--http", port, "db"], capture_output=True, text=True)
print(p.stderr.replace(port, "PORT"), end="")
print("exit", p.returncode)
END
python3 taken.py
daemon a b
ls -d db 2>/dev/null
