# A program that is a hole for the most part is named and left out: its archive would have all of it.
make_usual_db
truncate -s 1G prog
dwell tar --db db -o case.tar 2>&1 | sed "s|$PWD|DIR|"
tar tf case.tar | grep -c build-id
[ "$(stat -c %s case.tar)" -lt 1000000 ] && echo small
