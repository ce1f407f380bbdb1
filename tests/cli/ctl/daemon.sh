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
daemon a b
ls -d db 2>/dev/null
