# States of threads without a path are not taken for paths that are cut off.
{
	printf 'event blocked 1\nowner - - comm=x\nimage mark [waiting for a CPU]\nsample 0 3\n'
	printf 'image mark [blocked less than 1 ms]\nsample 0 2\nimage mark [truncated: no mapping]\nframe 0\nimage file /x\nsample 10 1\n'
} | make_db
dwell flame --db db >/dev/null
"$CLI/flame_data.py" flame.html
