make_usual_db
dwell hot --event all --db db
