# Samples whose periods vary stand for what they weigh: 500000 + 500000 + 250000 cycles.
make_calc_db
mkperf >perf.data <<END
host vax
cpu GenuineIntel,6,94,3
freq 1000 cycles
comm 1 1 calc
mmap 1 401000 1000 1000 $PWD/calc $(readelf -n calc | awk '/Build ID/ { print $3 }')
period 500000
sample 1 1 10 u $(at 9)
sample 1 1 20 u $(at 16)
period 250000
sample 1 1 30 u $(at 9)
END
dwell calc walk perf.data --counts counts --mcpu skylake --no-header | grep tallied:
dwell stalls perf.data --counts counts --mcpu skylake --no-header -n 1 --csv | cut -d, -f2,3
