# What is printed goes out in order, also when there is more of it than waits for a pager (4 MiB).
{
	printf '%s\n' 'meta vax 880000000 60 make' 'event cycles 7' 'image file /usr/lib/gone.so' 'owner - - comm=a pid=20 tid=20'
	awk 'BEGIN { for (i = 0; i < 16000; i++) printf "sample %x %d\n", 4096 + 16 * i, i + 1 }'
} | make_db
dwell hpc --db db -o h --no-sources >/dev/null
dwell cat h/profile.db >text
test $(wc -c <text) -gt $((2 * 4194304)) && echo "it is long"
head -n 1 text
tail -n 1 text
