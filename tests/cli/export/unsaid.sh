# What DCPI's files have no room for is named.
make_pm_paths_db
dwell export --dcpi --db db -o tree
