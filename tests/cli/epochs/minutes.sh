# When samples came; those of databases that do not say have no minute.
mkdb db <<-DB
		recording vax 1609459200
		meta vax 1609459200 180 server
		event cycles 1000
		image file /bin/server
		owner - - comm=server exe=/bin/server uid=0 pid=10 tid=10
		sample 401000 5
		minute 26824320 2
		minute 26824321 3
		owner - blue comm=server exe=/bin/server uid=0 pid=10 tid=11 thread=worker-1
		sample 401000 7
		minute 26824321 6
		owner idle -
		sample 401000 9
		minute 26824322 9
	DB
dwell epochs --minutes db
dwell epochs --minutes --csv db
dwell epochs --minutes --json db
# Minutes that stand together.
dwell epochs --minutes --steps 2 db
dwell epochs --minutes --steps 1 --json db | grep -o '"step_minutes": *[0-9]*'
dwell epochs --minutes --since 2021-01-01T00:01:30 --until 2021-01-01T00:02 db
mkdb old <<-DB
		meta vax 1609459200 180 server
		event cycles 1000
		image file /bin/server
		sample 401000 5
	DB
dwell epochs --minutes old
dwell check db
