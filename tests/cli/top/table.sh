make_usual_db
dwell top --event all --db db
