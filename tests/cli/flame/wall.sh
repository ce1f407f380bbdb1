# Wall time: what runs, waits for a CPU and blocks is told apart, in pages and in pictures, however it is asked for.
{
	printf 'event cpu-clock 1000000\nowner - - comm=x cgroup=/docker/x\nimage file /usr/lib/x.so\nframe 1000\nsample 2000 3\nsample 3000 1\n'
	printf 'time running\npath\nimage mark [running]\nsample 0 4000000\n'
	printf 'time runnable\nimage mark [waiting for a CPU]\nsample 0 1000000\n'
	printf 'time blocked\nimage file /usr/lib/x.so\nframe 1000\nsample 2000 5000000\n'
} | make_db
for args in '' '--event wall' '--sort wall' '--callers' '--event blocked' '--event cpu-clock' '--depth 1' '--percent-limit 60'; do
	echo "\$ flame $args"
	dwell flame --db db --by address $args -o x.html >/dev/null && "$CLI/flame_data.py" x.html
done
dwell flame --db db --by address -o x.svg >/dev/null
grep -o 'fill="#[0-9a-f]*"' x.svg | sort | uniq -c
dwell flame --db db --by cgroup,address >/dev/null && "$CLI/flame_data.py" flame.html | sed -n 1p
