# Files whose paths begin nowhere are files; what has no file is not.
mkperf >perf.data <<-END
	host vax
	event 1000000
	exec 10 make
	mmap 10 401000 1000 0 bin/prog
	mmap 10 7f0000000000 2000 0 libfoo.so 0123456789abcdef0123456789abcdef01234567
	mmap 10 7f0000010000 2000 0 anon_inode:[perf_event]
	mmap 10 7f0000020000 2000 0 [heap]
	mmap 10 7f0000030000 2000 0 //anon
	sample 10 10 10 u 401035
	sample 10 10 11 u 7f0000000010
	sample 10 10 12 u 7f0000010010
	sample 10 10 13 u 7f0000020010
	sample 10 10 14 u 7f0000030010
END
# Nothing of that name is looked for from here.
mkdir bin && cp /bin/true bin/prog
dwell prof --db perf.data --no-header --by image
