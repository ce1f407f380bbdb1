make_usual_db
dwell cat --db db -event cycles -label green prog | grep -v ^image
dwell cat --db db gone.so
