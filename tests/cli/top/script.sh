# Functions of scripts have lines; the addresses that stand for them are no program counters.
mkdb db <<-DB
		event cycles 1000
		image script /srv/work.py
		owner - - comm=python3
		sample 476194f41e000003 5
		image file /bin/nowhere/python3
		sample 401000 2
	DB
dwell hot --db db --no-header
dwell hot --db db --csv --no-header
