# Profiles of other tools: read directly and kept in a database, with equal sums; what they lose is said.
make_paths_db
for format in pprof speedscope callgrind firefox perf-script; do
	events=; [ $format = callgrind ] && events="--event samples+cycles"
	dwell export --$format -o f.$format db >/dev/null
	echo "-- $format"
	dwell prof --csv $events --db f.$format >direct.csv
	dwell import --db new.$format f.$format
	dwell prof --csv $events --db new.$format >stored.csv
	cmp direct.csv stored.csv && cut -d, -f1-3 direct.csv | sort | head -7
done
echo "-- folded"
printf 'main;hot;add_[i] 3\nmain;read_[k] 2\n' >f.folded
dwell tree --csv --db f.folded
dwell export --folded --db f.folded
echo "-- refused"
printf 'main;hot 3\nmain;cold\n' >bad.folded
dwell prof --db bad.folded
head -c 100 f.pprof >short.pb.gz
dwell prof --db short.pb.gz
printf '{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[{}],"shared":{"frames":[{}]}}' >bad.json
dwell prof --db bad.json
dwell import --db none bad.json
ls none
dwell import --trace --db none f.pprof
