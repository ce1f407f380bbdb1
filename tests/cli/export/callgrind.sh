# callgrind's format, and what callgrind_annotate makes of it.
make_paths_db
dwell export --callgrind -o callgrind.out db
sed "s/^0x[0-9a-f]*/ADDRESS/; s/^calls=1 .*/calls=1 .../" callgrind.out
callgrind_annotate --auto=no --threshold=100 --inclusive=no callgrind.out | sed -n '/PROGRAM/p; /:/p' | grep -v creator
callgrind_annotate --auto=no --threshold=100 --inclusive=yes --show=samples callgrind.out | grep "\[" | grep -E "_start|cold"
