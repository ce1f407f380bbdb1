make_usual_db
dwell top --db db -no_header -n 2 prog
dwell top --db db -no_header -n 1 -sort imiss
