# --path: a file, a directory, or where files lie now, FROM=TO; where perf.data is read in place, with build-ids and without.
make_prog
perf_records | mkperf >perf.data
perf_records | sed 's|/prog [0-9a-f]*$|/prog|' | mkperf >bare.data
mkdir -p new/bin && mv prog new/bin
show() {
	echo "--path $*" | sed "s|$PWD|DIR|g"
	for f in perf.data bare.data; do
		dwell prof -i $f --no-header --by image,procedure ${1:+--path "$@"} 2>&1 | grep prog | sed "s|$PWD|DIR|g"
	done
}
show
show new/bin/prog
show new/bin
show "$PWD=$PWD/new/bin"
show /elsewhere="$PWD/new/bin"
for bad in nowhere old=new /old= ; do
	dwell prof -i perf.data --path $bad
	echo "exit $?" >&2
done
