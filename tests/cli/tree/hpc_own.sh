# A database's own taxonomy has the sums alone: other statistics of its metrics are known nevertheless.
make_owners_db
dwell hpc --db db -o sums --no-sources >/dev/null
dwell hpc --db db -o means --stat mean,max --no-sources >/dev/null
for db in sums means; do
	grep -c '^      [A-Z]' $db/metrics/default.yaml
	dwell tree $db --taxonomy own --stat sum,mean,max | tee $db.own | head -n 5
done
tail -n +2 sums.own >of-sums
tail -n +2 means.own | diff of-sums -
dwell tree sums --taxonomy own --stat stddev | head -n 3
# All views say the same of a database with instructions, without, and of the other layout.
make_prog && make_tree_db
dwell hpc --db db -o short >/dev/null 2>&1
dwell hpc --db db -o listed --instructions >/dev/null 2>&1
dwell hpc --db db -o page --layout page >/dev/null 2>&1
for view in 'tree --percent-limit 0' 'tree --percent-limit 0 --by line' 'prof --by line'; do
	for db in short listed page; do
		dwell $view --db $db >$db.out || echo "$view $db"
	done
	wc -l <short.out
	diff short.out listed.out && diff short.out page.out
done
