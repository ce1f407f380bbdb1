# The database may stand first or last.
make_usual_db
dwell list db hot prog --no-header -source >first
dwell list hot prog db --no-header -source >last
cmp first last && wc -l <first
dwell list hot prog elsewhere
