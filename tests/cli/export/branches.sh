# Branch stacks for compilers: how often lines ran, jumps, and the code between two of them.
make_branches <<-END
	branches 10 10 10 401035 40102e:401035:m:7 401007:401020:p:3
	branches 10 10 20 401035 40102e:401035:p:5 401035:401020:p
END
dwell export --autofdo -o a.txt perf.data
cat a.txt
llvm-profdata merge --sample --text a.txt -o b.txt && cmp a.txt b.txt && echo the same
dwell export --bolt -o a.fdata perf.data
cat a.fdata
dwell export --bolt-pre -o a.preagg perf.data
cat a.preagg
dwell import --db db perf.data >log 2>&1
dwell export --bolt-pre -o b.preagg db && cmp a.preagg b.preagg && echo "a database has the same"
echo "-- without branch stacks:"
rm -r db
make_paths_db
dwell export --bolt-pre -o c.preagg db prog || echo "exit $?"
