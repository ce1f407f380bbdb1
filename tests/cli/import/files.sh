# A file, a pipe, a directory and a machine of the other byte order: the same samples, each an epoch of its own.
make_perf_data
dwell import --db db perf.data
dwell prof --db db --no-header --by procedure
dwell export --folded --no-inline --db db
perf_records | mkperf pipe | dwell import --db piped -
perf_records | mkperf big >big.data
mkdir directory && cp perf.data directory/data
dwell import --db others big.data directory
for db in perf.data db piped others big.data directory; do
	dwell prof --json --by procedure,comm --db $db | sed -n '/"rows"/,$p' >$db.rows
	cmp perf.data.rows $db.rows && echo "$db: $(grep -c count $db.rows) rows"
done 2>&1
dwell prof --db others --epoch all --no-header --by image
