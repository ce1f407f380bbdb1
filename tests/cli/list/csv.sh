make_usual_db
dwell list --db db -csv -asm hot prog
