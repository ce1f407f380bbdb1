make_usual_db
dwell cat --db db --csv | sed 's/[0-9a-f]\{40\}/ID/'
