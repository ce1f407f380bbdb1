make_usual_db
dwell prof --db db --json prog | sed "s/\"build_id\": \"[0-9a-f]*\"/\"build_id\": \"ID\"/"
