# Blocks of a procedure: counted by branch stacks, by callgrind, by samples of retired instructions; JSON and CSV; and
# what has none of these.
make_prog
{
	cat <<-END
		host vax
		event 1000000 branches
		exec 10 make
		mmap 10 401000 1000 1000 $PWD/prog $(readelf -n prog | awk '/Build ID/ { print $3 }')
	END
	turn=401037:40102c:p
	for i in $(seq 600); do
		echo "branches 10 10 $i 401035 40103b:40100a:p $turn $turn $turn 401005:401018:p"
		echo "branches 10 10 $i 40103b 40103b:40100a:p 401041:401039:p 40101a:40103c:p 401005:401018:p"
	done
} | mkperf >perf.data
dwell list --blocks hot --db perf.data
dwell list --blocks hot --db perf.data --csv
dwell list --blocks hot --db perf.data --json | jq -c '{counts_are_of,counted,unknown_jumps,unknown_blocks,rows:.rows[:1]}'
{
	printf '# callgrind format\npositions: instr line\nevents: Dr Ir\nob=%s/prog\nfn=hot\n' "$PWD"
	printf '0x%s 1 0 3\n0x40101c 2 0 2\n0x40102c 4 0 40\n+0 +1 0 2\n0x401039 9 0 3\n0x40103c 9 0 1\n' "$(sym hot)"
} >counts
make_usual_db
dwell list --db db --blocks hot --counts counts
dwell list --db db --blocks hot || echo "exit $?"
dwell list --db db --blocks cold --counts counts || echo "exit $?"
sed 's/instr //; s/^+0 //; s/^0x[0-9a-f]* //' counts >lines
dwell list --db db --blocks hot --counts lines || echo "exit $?"
dwell list --db db --blocks hot --counts prog.c || echo "exit $?"
dwell list --db db --blocks hot --counts nonesuch || echo "exit $?"
dwell list --db db --counts counts hot || echo "exit $?"
dwell list --db db --blocks --asm hot || echo "exit $?"
rm -r db
make_pm_db
dwell list --db db --blocks main --event pm
