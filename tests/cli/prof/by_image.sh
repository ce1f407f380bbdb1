make_usual_db
dwell prof --db db
