make_a_out
make_db <<-END
	meta vax 880000000 60 a.out
	event ibs_op 1000 100 100
	image file $PWD/a.out
	facts retired dtbmiss inflight=100
	frame 401011
	sample 401017 20
	facts retired !dtbmiss inflight=10
	sample 401017 60
	path
	sample 401007 15
	facts retired
	sample 40101e 5
END
dwell tree --db db --pm dtbmiss+any:inflight::any
dwell tree --db db --callers --pm dtbmiss
dwell tree --db db --json --pm retired --error | head -60
dwell prof --db db --pm dtbmiss+retired:inflight --by procedure
dwell prof --db db --callers work --pm dtbmiss::retired
