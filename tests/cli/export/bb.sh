# How often the blocks of all procedures ran: by exact counts, in a file; by branch stacks; refused where nothing tells it.
make_calc_db
dwell export --bb --counts counts --db db
dwell export --bb --counts counts -o blocks --db db calc
grep -c exact blocks
dwell list --blocks --counts counts --db db walk --csv --no-header | cut -d, -f 3-
dwell export --bb --db db || echo "exit $?"
dwell export --folded --counts counts --db db || echo "exit $?"
make_branches <<-END
	branches 10 10 10 401035 40102e:401035:m:7 401007:401020:p:3 0:0:-
END
dwell export --bb perf.data
# dcpi2bb is that.
ln -s "$BUILD/dwell" dcpi2bb
./dcpi2bb -counts -db perf.data "$PWD/prog" | head -n 3
