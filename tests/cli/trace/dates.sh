# The time of second 0 is the recording's: of a file that has kept its time, its last sample's.  Of a
# copy from another machine only the copy's time is known, which says nothing.
file()
{
	mkperf <<-END
		$1
		event 1000000
		exec 10 make
		mmap 10 401000 1000 0 /bin/prog
		sample 10 10 1000000000 u 401035
		sample 10 10 1050000000 u 401035
		round
	END
}
file "host elsewhere" >copied.data
file "host elsewhere" >elsewhere.data
touch -d '2026-01-02 03:04:05 UTC' elsewhere.data
file "odd 99" >here.data
touch -d '2026-01-02 03:04:05 UTC' here.data
for name in copied elsewhere here; do
	dwell import --trace --db $name.kept $name.data >/dev/null 2>&1
	for db in $name.data $name.kept; do
		echo "$db:"
		dwell trace --db $db 2>/dev/null | grep -o '[a-z ]*second 0.*;'
		dwell prof --db $db 2>/dev/null | grep -o '2026.*'
	done
done
