make_usual_db
dwell list --db db -json -both hot prog | sed "s/\"build_id\": \"[0-9a-f]*\"/\"build_id\": \"ID\"/"
