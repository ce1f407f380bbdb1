# Each command with each kind of source: it works, or says in one sentence what that is and why not.  The table is dwell(1)'s.
make_all_sources
sources="db many tree file perf pipe hpc runs hist pprof"

# Runs COMMAND as one is written for source $1.
list_args() {
	case $1 in
	many) echo 0x1000 server ;;
	hpc) echo solve prog ;;
	runs) echo 0x1010 prog ;;
	pprof) echo hot prog ;;
	*) echo 0x$(sym hot) prog ;;
	esac
}
# A source like $1 whose samples are where the program's code is.
of_code() { [ "$1" = perf ] && echo perf.data || echo "$1"; }
# A source like $1 with data addresses, where there is such.
of_memory() { [ -e "memory/$1" ] && echo "memory/$1" || echo "$1"; }
# Asks `dwell web` of source $1 for its table, as a browser would.
web() {
	rm -f url
	dwell web --listen 127.0.0.1:0 "$1" >url &
	pid=$!
	until grep -qs token url || ! kill -0 $pid; do sleep 0.05; done
	host=$(sed 's|http://||; s|/.*||' url)
	printf 'GET /api/prof?by=image HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$host" >question
	bash -c 'exec 3<>"$0" && cat question >&3 && cat <&3' "/dev/tcp/${host%:*}/${host#*:}" >answer
	sed '1,/^\r*$/d' answer >&2
	grep -q '^HTTP/1.1 200' answer
	rc=$?
	kill $pid
	wait $pid
	return $rc
}
# Ships source $1 to where nobody listens: what it has to say of the source comes before that.
ship() {
	dwell ship --to http://127.0.0.1:1/fleet --db "$1" 2>refusal
	rc=$?
	grep -q 'connect to' refusal && return
	cat refusal >&2
	return $rc
}
run() {
	case $2 in
	list) dwell list "$1" $(list_args "$1") ;;
	list--blocks) dwell list --blocks --counts counts --db "$1" $(list_args "$1") ;;
	calc) dwell calc --counts counts --mhz 2000 --db "$1" $(list_args "$1") ;;
	mem) dwell mem --db "$(of_memory "$1")" ;;
	stalls | why) dwell "$2" --counts counts --mhz 2000 --db "$(of_code "$1")" prog ;;
	ship) ship "$1" ;;
	diff) dwell diff "$1" "$1" ;;
	stats) dwell stats "$1" "$1" ;;
	stats--each) dwell stats --each --db "$1" ;;
	export--folded) dwell export --folded "$1" ;;
	export--dcpi) dwell export --dcpi -o out/dcpi "$1" ;;
	flame) dwell flame -o - "$1" ;;
	tar) dwell tar -o out/tar "$1" ;;
	hpc) dwell hpc --force -o out/hpc "$1" ;;
	scan) dwell scan --db "$1" --all . ;;
	gc) dwell gc --db "$1" ;;
	import) dwell import --db out/new "$1" ;;
	import--db) dwell import --db "$1" perf ;;
	check--repair) dwell check --repair "$1" ;;
	web) web "$1" ;;
	tui) TERM=xterm type_into q "dwell tui '$1'" ;;
	*) dwell "$2" "$1" ;;
	esac >stdout 2>stderr
}
# What is below a source, but for kept symbols.
contents() { find $sources -path '*/images*' -prune -o \( -type f -printf '%p %s %T@\n' -o -printf '%p\n' \) | sort; }
# What the commands say of what is no source.
table_of_none() {
	for s in empty text hist/*.hist hpc/meta.db; do
		for c in prof tree flame list top export; do
			dwell $c $([ $c = export ] && echo --folded) $([ $c = list ] && echo hot) --db $s 2>&1 | grep '^dwell'
		done
		for c in trace cat diff tar epochs check import scan gc import--db; do
			run $s $c || grep '^dwell' stderr | tail -n 1
		done
	done | sed 's/hist\/[0-9a-f]*-[0-9a-f]*/hist\/FILE/g' | sort -u
}
# The row of command $1.
row() {
	printf %-15s "$1"
	echo "${1%%--*}" >>rows
	for s in $sources; do
		if run $s "$1"; then
			printf '  %-4s' yes
		else
			printf '  %-4s' no
			grep '^dwell' stderr | tail -n 1 | sed "s/^/$1: /" >>why
		fi
	done
	echo
}
table() {
	printf '%-15s' ''
	printf '  %-4s' $sources
	echo
	for c in prof tree flame web list list--blocks calc stalls why mem hot top tui trace cat diff stats stats--each export--folded export--dcpi hpc ship tar epochs check import; do row $c; done
	contents >after
	table_of_none >none
	for c in scan gc import--db check--repair; do row $c; done
}
mkdir out
perf_records | mkperf >perf.data
printf '# callgrind format\npositions: instr\nevents: Ir\nob=%s/prog\nfn=hot\n0x%s 3\n' "$PWD" "$(sym hot)" >counts
make_memory_data memory_samples
mkdir -p memory/many
mv perf.data memory/perf
make_memory_data memory_samples pipe
mv perf.data memory/pipe
dwell import --db memory/db memory/perf >/dev/null 2>&1
cp -r memory/db memory/many/one
perf_records | mkperf >perf.data
contents >before
table | sed 's/ *$//' >seen
cat seen
echo
echo "What a reader changed:"
diff before after | grep '^[<>]'
echo
echo "Why not:"
sort -u why
echo
echo "What is no source:"
cat none
echo
echo "What is no database to record into:"
for s in many tree file perf hpc hist text; do
	dwell record --db $s -e cpu-clock -- true 2>&1
done
echo
echo "Commands that read no source:"
dwell help | awk '/^  [a-z]/ && !/^ *dwell/ { print $1 }' | sort >commands
sort -u rows | comm -13 - commands
echo
sed -n '/^## Sources/,/^# /p' "$CLI/../../docs/man/dwell.1.scd" | sed -n '/^```/,/^```/p' | grep -v '^```' | diff - seen && echo "the page has this table"
