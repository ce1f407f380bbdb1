make_usual_db
dwell prof --db db --csv prog gone.so | cut -d, -f1-6
