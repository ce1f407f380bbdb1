# Counts of blocks of one image as pixie's, and of source lines for lcov; DCPI's names of them.
make_calc_db
dwell export --pixie --counts counts --db db
dwell export --pixie --counts counts --db db calc -o counted
grep -c . counted
dwell export --lcov --counts counts --db db -o lines.info
grep -v '^SF' lines.info | sort | uniq -c | sort -rn | head -n 3
dwell export --pixie --counts counts --conf certain --db db || echo "exit $?"
dwell export --bb --counts counts --conf low --db db || echo "exit $?"
dwell export --pixie --db db || echo "exit $?"
dwell export --lcov --counts counts --pm retired --db db || echo "exit $?"
make_branches <<-END
	branches 10 10 10 401035 40102e:401035:m:7 401007:401020:p:3 0:0:-
END
for name in dcpi2pix dcpicoverage dcpiflow dcpisource; do ln -s "$BUILD/dwell" $name; done
./dcpi2pix -conf_low -db perf.data "$PWD/prog"
./dcpi2pix -db perf.data prog | head -n 2
./dcpicoverage -one_line -no_header -db perf.data prog | sed 's,SF:.*/,SF:,'
./dcpiflow -db perf.data hot prog | head -n 12
./dcpisource -db perf.data hot prog | head -n 16
