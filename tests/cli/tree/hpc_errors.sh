# What is wrong with an HPCToolkit database, and with what is asked of it.
mkhpc hpc released
try() { echo "$ $*"; "$@"; echo "= $?"; }
try dwell tree hpc --by comm 2>&1
try dwell tree hpc --comm make 2>&1
try dwell tree hpc --epoch all 2>&1
try dwell tree hpc --event nothing 2>&1
try dwell tree hpc --sort nothing 2>&1
try dwell tree hpc --stat median 2>&1
try dwell tree hpc --thread 9 2>&1
try dwell tree hpc --thread rank=7 2>&1
try dwell tree hpc --thread core=1,thred=2 2>&1
try dwell tree hpc --thread 1- 2>&1
try dwell tree hpc --derive nothing 2>&1
try dwell tree hpc --derive 'a = b' 2>&1
try dwell tree hpc --derive 'a = cycles +' 2>&1
try dwell tree hpc hpc 2>&1
try dwell tree hpc --focus nothing_is_called_so --no-header 2>&1
try dwell prof hpc nothing.so 2>&1
try dwell prof hpc --callers main --callees main 2>&1
try dwell prof hpc --callers main --by image 2>&1
try dwell prof hpc --callers main --stat mean 2>&1
try dwell prof hpc --callees solv 2>&1
try dwell prof hpc --by comm 2>&1
try dwell prof hpc --context x 2>&1
try dwell prof hpc --context 1 --by image 2>&1
try dwell list hpc 2>&1
try dwell list hpc nothing 2>&1
try dwell list hpc main nothing.so 2>&1
try dwell trace hpc --from x 2>&1
try dwell trace hpc --from 1 --range 1..2 2>&1
try dwell trace hpc --from 2 --to 1 2>&1
for file in meta profile cct trace; do
	rm -rf cut && cp -r hpc cut
	head -c 70 hpc/$file.db >cut/$file.db
	try dwell tree cut 2>&1
done
cp -r hpc newer
printf '\005' | dd of=newer/profile.db bs=1 seek=14 conv=notrunc 2>/dev/null
try dwell tree newer 2>&1
rm -rf cut && cp -r hpc cut && rm cut/profile.db
try dwell tree cut 2>&1
rm -rf cut && cp -r hpc cut && rm cut/cct.db cut/trace.db
try dwell trace cut 2>&1
try dwell prof cut --by thread --no-header --event cycles 2>&1
make_paths_db
try dwell tree --db db --stat max 2>&1
try dwell tree --db db --by loop 2>&1
try dwell prof --db db --context 1 2>&1
