make_usual_db
dwell export --dcpi --db db -o tree -event imiss prog
find tree -type f | sed 's/[0-9a-f]\{16\}$/HASH/'
file=$(find tree -type f)
strings -n 4 $file | sed 's/[0-9a-f]\{40\}/ID/; s|/.*/|DIR/|; s/\(dwell-text\).*/\1/'
dwell export --dcpi --db db -o alpha --stride 4 -event imiss -label green
