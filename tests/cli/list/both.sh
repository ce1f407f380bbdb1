make_usual_db
dwell list --db db -both -no_header hot prog
