make_usual_db
dwell list --db db -source hot prog
