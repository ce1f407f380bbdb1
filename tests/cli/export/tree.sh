make_usual_db
dwell export --dcpi --db db -o tree/deep
find tree -type f | sed 's/[0-9a-f]\{16\}$/HASH/' | sort
dwell prof --by image --db tree/deep >a
dwell prof --by image --db db >b
diff b a && cat a
# All counts are there, for every version and from tree to tree.
dwell cat --db db --csv >want
dwell export --dcpi --version 0.06 --db tree/deep -o again >out
dwell cat --db again --csv | cmp - want
head -qn 1 again/*/*/* | uniq -c
# Writing again replaces the files.
dwell export --dcpi --version 0.06 --db tree/deep -o again | cmp - out
