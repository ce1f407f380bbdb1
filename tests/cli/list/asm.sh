make_usual_db
dwell list --event all --db db -asm hot prog
