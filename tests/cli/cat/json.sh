make_usual_db
dwell cat --db db --json prog gone.so | sed 's/"[0-9a-f]\{40\}"/"ID"/'
