# The branches of a recording that has them, most frequent first; as JSON and CSV; of one image; of a recording without.
make_branches <<-END
	mmap 10 7f0000000000 2000 0 /usr/lib/gone.so 0123456789abcdef0123456789abcdef01234567
	branches 10 10 10 401035 40102e:401035:m:7 401007:401020:p:3 0:0:-
	branches 10 10 20 401035 40102e:401035:p:5 7f0000001234:401007:-
	branches 10 10 30 401035 40102e:401035:p
END
dwell import --db db perf.data >log 2>&1
dwell cat --branches --db db
dwell cat --branches --db perf.data --csv
dwell cat --branches perf.data gone.so --csv
dwell cat --branches db gone.so --csv
dwell cat --branches --db db --json gone.so
dwell cat --branches --db db nonesuch.so || echo "exit $?"
rm -r db
make_usual_db
dwell cat --branches --db db || echo "exit $?"
