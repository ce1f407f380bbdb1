# The page of a recording that has wall time begins with it, beside all that was recorded, unless an event is named.
{
	printf 'event cpu-clock 1000000\nowner - - comm=x\nimage file /usr/lib/x.so\nframe 1000\nsample 2000 3\nsample 3000 1\n'
	printf 'time running\npath\nimage mark [running]\nsample 0 4000000\n'
	printf 'time runnable\nimage mark [waiting for a CPU]\nsample 0 1000000\n'
	printf 'time blocked\nimage file /usr/lib/x.so\nframe 1000\nsample 2000 5000000\n'
} | make_db
for args in '' '--event cpu-clock' '--event blocked+cpu-clock' '--sort blocked'; do
	echo "\$ list $args -o -"
	dwell list --db db $args -o x.html 0x2000 x.so >/dev/null && python3 "$CLI/list/page_data.py" x.html | sed -n '/title/p;4p'
done
