# Code that was kept when it was imported: listings and lines of a build that is gone.
make_prog
perf_records | mkperf >perf.data
dwell import --db db perf.data >/dev/null 2>&1
code=$(ls -d db/images/*/code-*)
stat -c %a "$code"
for how in --asm --source --both; do dwell list --db db --no-header $how hot prog; done >before
dwell prof --db db --by line --no-header >lines
sed -i 's/int n;/int n, more;/' prog.c
touch -d '1 hour' prog.c
gcc -c -O2 -g prog.c && ld -Ttext=0x401000 --build-id -o prog start.o prog.o more.o
for how in --asm --source --both; do dwell list --db db --no-header $how hot prog; done >after
cmp before after && echo "the same listing"
dwell prof --db db --by line --no-header >lines.now
cmp lines lines.now && echo "the same lines"
dwell list --db db --hot --asm hot prog | sed -n '/^hot/,$p'
dwell list --db db hot prog | sed -n '/^hot/,/^$/p'
# A bundle has it, and so has the list of another database.
dwell tar --db db -o bundle.tar >/dev/null 2>&1
tar tf bundle.tar | grep -c /code-
# What is damaged is found, and nothing else is lost by it.
dwell check db
cp -r db damaged
printf x | dd of="damaged/${code#db/}" bs=1 seek=100 conv=notrunc 2>/dev/null
dwell check damaged
echo "= $?"
dwell check --repair damaged
echo "= $?"
dwell list --db damaged --no-header hot prog | head -n 2
# A recording that goes takes its code along.
perf_records | mkperf >perf.data
dwell import --db db perf.data >/dev/null 2>&1
ls -d db/images/*/code-* | wc -l
dwell gc --db db --keep 1 --max-size 1 --images | tail -n 1
ls -d db/images/*/code-* | wc -l
