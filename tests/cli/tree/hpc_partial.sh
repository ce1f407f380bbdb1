# In HPCToolkit databases paths that nobody could follow come last, however much they have.
make_prog && make_db <<-END
	meta vax 880000000 60 make
	event cycles 1000
	owner - - comm=prog exe=$PWD/prog uid=1000 pid=11 tid=11
	image file $PWD/prog
	frame 401000
	sample $(sym hot) 40
	path
	image mark [truncated: no unwind table]
	frame 0
	image file $PWD/prog
	frame 401048
	sample $(sym hot) 100
END
dwell hpc -o hpc --db db >/dev/null
dwell tree --db hpc --percent-limit 0
dwell tree --db hpc --callers --no-header --percent-limit 0
dwell prof --db hpc --no-header
dwell flame --db hpc -o x.html >/dev/null && "$CLI/flame_data.py" x.html
