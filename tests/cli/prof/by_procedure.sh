make_usual_db
dwell prof --db db prog
dwell prof --db db --no_header --by procedure
