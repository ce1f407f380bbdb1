make_usual_db
dwell prof --by image --event all --db db
