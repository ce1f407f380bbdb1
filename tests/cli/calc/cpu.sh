# The model is that of the CPU that was recorded, as a file of perf's tells, also when it was imported.
make_calc_db
samples() {
	echo "host vax"
	echo "cpu $1"
	echo "event 1000000 branches"
	echo "exec 10 calc"
	echo "mmap 10 401000 1000 1000 $PWD/calc $(readelf -n calc | awk '/Build ID/ { print $3 }')"
	turn=$(at 18):$(at 5):p:20
	for i in $(seq 300); do
		echo "branches 10 10 $i $(at 9) $turn $turn $(at 11):$(at 16):p:20 $turn $(at 11):$(at 16):m:20 $turn"
	done
}
samples GenuineIntel,6,85,4 | mkperf >perf.data
calc() { dwell calc walk --mhz 2000 --conf low --no-header "$@"; }
calc --db perf.data >told
calc --db perf.data --mcpu skylake-avx512 >asked
calc --db perf.data --mcpu znver2 >other
cmp told asked && ! cmp -s told other && echo "the CPU that was recorded"
dwell import --db db2 perf.data >log 2>&1
grep '"cpu"' db2/epochs/*/*/MANIFEST
calc --db db2 >kept
cmp kept told && echo "kept"
samples GenuineIntel,6,255,0 | mkperf >perf.data
dwell calc walk --mhz 2000 --conf low --db perf.data | grep 'GenuineIntel'
calc --db perf.data --mcpu skylake-avx512 | cmp - told && echo "named"
