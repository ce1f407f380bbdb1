# Bars are as wide as the screen, hottest thread first; what a thread was blocked in is told from where it ran.
command -v script >/dev/null || { echo "no script(1)"; exit 77; }
make_prog
{
	echo "meta vax 880000000 1 server"
	echo "event cpu-clock 1000000"
	echo "owner - - comm=server exe=/usr/bin/server thread=idler"
	echo "image file $PWD/prog"
	echo "sample $(sym hot) 40"
	echo "thread 10 10 0 0"
	echo "time blocked"
	echo "point 90000 $(sym cold)"
	echo "owner - - comm=server exe=/usr/bin/server thread=worker-with-a-rather-long-name"
	echo "event cpu-clock 1000000"
	echo "thread 10 11 1000 0"
	for ms in 2 3 4 5 6 7 60 61 62 63 64 65 66; do echo "point ${ms}000 $(sym hot)"; done
	echo "time blocked"
	echo "point 50000 $(sym cold)"
	echo "owner - - comm=other exe=/usr/bin/other"
	echo "event cpu-clock 1000000"
	echo "thread 20 20 30000 80000"
	for ms in 31 40 51; do echo "point ${ms}000 $(sym hot)"; done
} | make_db
for columns in 80 120 200; do
	echo "--- $columns"
	COLUMNS=$columns dwell trace --db db >seen
	cat seen
	awk -v most=$columns 'length($0) > most { print "too wide: " length($0) }' seen
done
COLUMNS=120 dwell trace --db db --width 30 --no-header
dwell trace --db db --no-header
TERM=xterm DWELL_PAGER= type_into '' "stty rows 50 cols 80; dwell trace --db db --no-header" |
	tr -d '\r' | sed "s|$(printf '\033')|ESC|g"
# JSON has the bars it had.
COLUMNS=200 dwell trace --db db --json | grep bar
