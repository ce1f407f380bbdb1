# What readers say of rare callers that were pruned.
make_prog
make_db <<-END
	meta vax 880000000 60 make
	event cycles 1000
	image file $PWD/prog
	owner - - comm=prog
	frame 401007
	sample $(sym hot) 90
	image mark [pruned]
	frame 0
	image file $PWD/prog
	sample $(sym hot) 6
	sample $(sym cold) 2
	path
	image mark [pruned]
	frame 0
	image file $PWD/prog
	sample $(sym cold) 2
END
export DWELLDB=db
dwell tree
dwell tree --no-header --callers
dwell tree --json | grep pruned
dwell prof --by image
dwell prof --no-header --callers hot
dwell epochs --csv | cut -d, -f3-8
grep -o '"pruned":[^,]*' db/epochs/*/*/MANIFEST
