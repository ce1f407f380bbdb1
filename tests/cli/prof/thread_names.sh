# Threads that have names of their own are shown with them.
make_prog && make_db <<-END
	meta vax 880000000 60 server
	event cycles 1000
	image file $PWD/prog
	owner - - comm=server exe=/bin/server uid=0 pid=10 tid=10
	sample $(sym hot) 5
	owner - - comm=server exe=/bin/server uid=0 pid=10 tid=11 thread=worker-1
	sample $(sym hot) 7
	owner - - comm=server exe=/bin/server uid=0 pid=10 tid=12 thread=gc
	sample $(sym cold) 1
	owner - - comm=server exe=/bin/server uid=0 pid=10
	sample $(sym cold) 2
END
export DWELLDB=db
dwell prof -no_header --by tid
dwell prof -no_header --by comm,tid --csv
dwell prof --json --by tid | sed -n '/rows/,$p'
dwell tree -no_header --by tid | cut -c1-80
dwell prof -no_header --by tid --tid 12
dwell check db
