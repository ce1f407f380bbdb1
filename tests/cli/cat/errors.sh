golden=$CLI/../golden/dcpi
make_usual_db
cp $golden/v006.prof whole
try() { "$@"; echo "exit $?"; }
for f in v101 v005 chunk-long chunk-overlap footer-sum no-samples no-period bad-date sum-32-bits; do
	cp $golden/errors/$f.prof .
	try dwell cat $f.prof
done
head -c 350 whole >cut
try dwell cat cut
try dwell cat --stride 4 whole
try dwell cat --stride 2 whole
try dwell cat --db db nothing
try dwell cat whole prog.c
try dwell cat whole libc.so.6
try dwell cat --write 0.08 -o out whole
try dwell cat --write 0.07 whole
try dwell cat -o out whole
try dwell cat --write 0.07 -o nowhere/out whole
try dwell cat --write 0.07 -o out cut
mkdir out
try dwell cat --write 0.07 -o out whole
ln -s /etc/passwd link
try dwell cat --write 0.07 -o link whole
dwell cat --db db prog >text
try dwell cat --write 0.07 -o new text
sed 's/^event  .*/event 1 x/' text >bad
try dwell cat bad
sed '$d' text >short
try dwell cat short
ls
