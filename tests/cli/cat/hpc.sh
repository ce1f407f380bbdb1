# The structures of a file of an HPCToolkit database.
make_tree_db
dwell hpc --no-sources --db db -o h >/dev/null 2>&1
for file in meta profile cct; do
	dwell cat h/$file.db | awk '$2 ~ /^(magic|nProfiles|nCtxs|szProfile|szCtx|nMetrics)$/ && NR < 30'
	dwell cat h/$file.db | tail -1
done
dwell cat --json h/cct.db
echo "= $?"
head -c 50 h/cct.db >short.db
dwell cat short.db
echo "= $?"
