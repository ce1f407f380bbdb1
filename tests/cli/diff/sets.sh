# Two databases of one program that changed, and all ways to look at them.
make_diff_dbs
dwell diff old new
dwell diff --by image old new
dwell diff --by line old new
dwell diff --by address --all old new
dwell diff --absolute old new
dwell diff --csv old new | tr -d '\r'
dwell diff old old
dwell diff --no-header --min 50 --all old new gone.so
