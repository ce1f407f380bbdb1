# Time lines as a page: what points say becomes spans; who ended a block is found.
threads() {
	printf 'event cpu-clock 1000000\nowner - - comm=worker\nimage file /usr/lib/x.so\nsample 1000 1\n'
	[ "$1" = samples ] || printf 'time blocked\nsample 4000 1\ntime runnable\nsample 4000 1\ntime woken\nsample 4000 1\n'
	printf 'event cpu-clock 1000000\nthread 11 11 1000 60000\nframe 1000\npoint 5000 2000\npoint 6000 2000\npoint 7100 3000\n'
	[ "$1" = samples ] || printf 'time blocked\npoint 7300 4000\npath\ntime runnable\npoint 20000 5000\nevent cpu-clock 1000000\n'
	printf 'point 25000 2000\n'
	printf 'owner - - comm=<script>\nthread 11 12 0 0 7\npoint 19500 6000\n'
	[ "$1" = samples ] || printf 'time woken\nframe 1000\npoint 20000 7000\n'
}
for what in samples states; do
	rm -rf db
	threads $what | make_db
	echo "\$ $what"
	dwell trace --db db -o x.html | sed 's/, [0-9]* bytes/, N bytes/' && "$CLI/trace_data.py" x.html
done
echo '$ a range'
dwell trace --db db --range 0.018..0.022 -o - >y.html && "$CLI/trace_data.py" y.html
grep -c '<script>' x.html
echo '$ a thread that takes another name'
rm -rf db
printf 'time blocked\nowner - - comm=sh\nimage file /usr/lib/x.so\nsample 1000 1\ntime runnable\nsample 4000 1\n
thread 11 11 0 60000\ntime blocked\npoint 1000 2000\ntime runnable\npoint 4000 2000\n
owner - - comm=worker\nthread 11 11 0 60000\ntime blocked\npoint 20000 4000\n' | grep . | make_db
dwell trace --db db -o x.html >/dev/null && "$CLI/trace_data.py" x.html
echo '$ HPCToolkit'
mkhpc hpc released
dwell trace hpc -o h.html | sed 's/, [0-9]* bytes/, N bytes/' && "$CLI/trace_data.py" h.html | sed -n 1,6p
echo '$ errors'
dwell trace --db db -o x.png 2>&1
dwell trace --db db --range 9..10 -o n.html 2>&1
[ ! -e n.html ] || echo 'a file was written'
