make_usual_db
dwell top --db db --json -n 1 | sed "s/\"build_id\": \"[0-9a-f]*\"/\"build_id\": \"ID\"/"
