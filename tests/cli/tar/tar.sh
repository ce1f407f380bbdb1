# A bundle is read where neither the images nor the database are.
make_usual_db
dwell prof --db db --no-header prog >here
dwell list --db db --no-header --asm hot prog >listed
dwell tar --db db -o case.tar
tar tf case.tar | sed 's/\(symbols\|claimed\)-[0-9a-f]*-[0-9a-f]*/SYMBOLS/; s/[0-9a-f]\{38,\}/ID/; s/build-id.../build-id\/xx/; s/2[0-9]\{13\}/EPOCH/'
mkdir elsewhere
mv case.tar elsewhere
mkdir gone
mv prog prog.c start.s more.s *.o db gone
cd elsewhere
tar xf case.tar
dwell prof --db case --no-header prog | diff ../here - && echo same
dwell list --db case --no-header --asm hot prog | diff ../listed - && echo same
dwell check case
dwell epochs case --csv | cut -d, -f2,3,6
cd ..
try() { echo "$ $*"; "$@" 2>&1; echo "= $?"; }
dwell tar --db gone/db -o - | tar tf - | wc -l
try dwell tar --db gone/db
try dwell tar --db gone/db --epoch 1999 -o none.tar | sed 's/2[0-9]\{13\}/EPOCH/'
ls none.tar 2>&1
try dwell tar --db gone/db -o /nowhere/x.tar
# A link in the archive's place is replaced; what it points to stays.
echo mine >victim
ln -s victim link.tar
dwell tar --db gone/db -o link.tar >/dev/null && cat victim && [ ! -L link.tar ] && tar tf link.tar | wc -l
dwell tar --db gone/db -o /dev/stdout | tar tf - 2>/dev/null | wc -l
[ -z "$(ls -A | grep tmp)" ]
