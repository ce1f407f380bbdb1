# Where a kernel lies is not stored: its addresses in no known image are unknown, and counted.
make_perf_data >/dev/null
cat >in <<-END
	event 1000 chains
	exec 50 svc
	mmap 50 401000 1000 1000 $PWD/prog $(readelf -n prog | awk '/Build ID/ { print $3 }')
	sample 50 50 20 k ffffffffc0123456 kernel ffffffffc0123456 ffffffffc0777777 user 401030 401007
	sample 50 50 30 k ffffffffc0123999 kernel ffffffffc0123999 ffffffffc0777777 user 401030 401007
	sample 50 50 40 u 401010 user 401010 401007
	round
END
mkperf <in >k.data
dwell import --db kept k.data >/dev/null
dwell prof --db kept --by procedure --no-header
dwell top --db kept --no-header | cut -c1-60
dwell tree --db kept --no-header
dwell check kept
