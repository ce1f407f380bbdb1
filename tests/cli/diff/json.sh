make_diff_dbs
dwell diff --json old new
dwell diff --json --by line --alpha 1e-30 old new
