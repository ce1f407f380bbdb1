# LLVM's sample profiles, which llvm-profdata takes as they are, and BOLT's fdata without branch stacks.
make_paths_db
dwell export --autofdo -o a.txt db prog
cat a.txt
llvm-profdata merge --sample --text a.txt -o b.txt && cmp a.txt b.txt && echo the same
dwell export --bolt -o a.fdata db prog
cat a.fdata
echo "-- code without lines:"
rm prog.c
sed -i 's/^/ /' more.s
strip -g prog
dwell export --autofdo -o c.txt db prog
ls c.txt
