golden=$CLI/../golden/dcpi
# The version a file has: the same bytes.
dwell cat --write 0.06 -o same $golden/v006.prof && cmp same $golden/v006.prof
# Another version: the other lines are kept, unknown ones too, and the counts.
dwell cat --write 0.07 -o new $golden/v006.prof
strings -n 6 new | head -17
dwell cat new >a
dwell cat $golden/v006.prof | cmp - a
# From text.
dwell cat --write 0.06 -o from-text a
dwell cat from-text | cmp - a
od -A n -t x1 from-text | tail -3
