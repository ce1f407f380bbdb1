make_usual_db
dwell list --db db -asm hot prog
