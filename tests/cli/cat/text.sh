make_usual_db
dwell cat --db db | sed "s/^image  .*[0-9a-f]\{40\}$/image ID/" >all
cat all
# What is printed reads back as itself, as a file and as a database.
dwell cat --db db >text
dwell cat text | cmp - text
dwell cat --db text | cmp - text
