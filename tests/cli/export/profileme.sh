make_pm_paths_db
try() { "$@"; echo "exit $?"; }
try dwell export --folded --db db --pm retired
try dwell export --folded --db db --pm retired:inflight
try dwell export --folded --db db --pm retired --sp dtbmiss
try dwell export --folded --db db --pm dtbmiss::retired
try dwell export --dcpi --db db --pm retired -o out
try dwell export --folded --db db --pm icmiss
