make_prog
{
	printf 'event cpu-clock 1000000\nowner - - comm=prog\nimage file %s\nsample 1000 40\n' "$PWD/prog"
	printf 'time runnable\nimage mark [waiting for a CPU]\nsample 0 1000000\n'
} | mkdb db
# What is no code has neither an address nor an image.
dwell hot --no-header --event all --db db
dwell hot --no-header --event runnable --db db
