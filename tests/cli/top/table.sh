make_usual_db
dwell top --db db
