# Names that would drive a terminal, and a path of ten thousand calls.
{
	printf 'event cycles 1\nimage file /tmp/\033[2J\177x\nowner - - comm=\033[1mbold\n'
	awk 'BEGIN { for (i = 0; i < 10000; i++) printf "frame %x\n", 4096 + 16 * (i % 7) }'
	echo sample 1000 3
} | make_db
dwell tree --db db --no-header --by comm --depth 3
dwell tree --db db --no-header --by comm,address | tail -n 3 | head -n 1
dwell tree --db db --no-header --by address --callers --depth 20000 | sed -n '2p;9999p'
dwell tree --db db --no-header --by image
dwell tree --db db --no-header --fold-recursion
dwell export --folded --db db | tr ';' '\n' | sort | uniq -c
