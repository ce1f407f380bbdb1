make_usual_db
dwell top --db db --csv -n 2 | cut -d, -f1-6,8-
