# Where periods vary, shares are those of what samples weigh, as in perf report; counts are samples.
make_perf_data >/dev/null
id=$(readelf -n prog | awk '/Build ID/ { print $3 }')
{
	cat <<-END
		freq 4000 chains
		exec 50 svc
		mmap 50 401000 1000 1000 $PWD/prog $id
		period 9000
		sample 50 50 20 u 401030 user 401030 401007
		period 250
		sample 50 50 30 u 401010 user 401010 401007
		sample 50 50 40 u 401010 user 401010 401007
		sample 50 50 50 u 401010 user 401010 401007
		sample 50 50 60 u 401010 user 401010 401007
		round
	END
} | mkperf >varied.data
cat >even <<-END
	freq 4000 chains
	exec 50 svc
	mmap 50 401000 1000 1000 $PWD/prog $id
	period 250
	sample 50 50 20 u 401030 user 401030 401007
	sample 50 50 30 u 401010 user 401010 401007
	round
END
mkperf <even >even.data
dwell import --db kept varied.data >/dev/null
for db in varied.data kept; do
	echo "$db:"
	dwell prof --db $db --by procedure --no-inclusive
	dwell tree --db $db --no-header
	dwell top --db $db --no-header
	dwell export --db $db --folded
	dwell prof --db $db --callees _start --no-header
done
dwell prof --db kept --by procedure --json | tr ',' '\n' | grep -A2 '"weights'
dwell prof --db kept --by procedure --csv | sed 's/,kernel.*//; s/[0-9a-f]\{40\}/ID/'
sed 's/^freq/event/; s/^period.*/odd 99/' even | mkperf >fixed.data
dwell prof --db fixed.data --by procedure --json | grep -c weights
# Two recordings at one frequency are one event.
dwell import --db kept even.data >/dev/null
dwell prof --db kept --epoch all --by procedure --no-inclusive --no-header
dwell check kept
# Compared are what samples weigh, with as many samples of equal weight as would tell as much.
dwell diff varied.data even.data --all --by procedure --no-header
dwell diff varied.data even.data --all --by procedure --json | tr ',' '\n' | grep -E 'samples|effective|amount'
