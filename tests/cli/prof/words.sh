# What people type who come from perf, pprof and htop: it works, or says the right word.
make_owners_db
export DWELLDB=db
try() { echo "$ dwell $*"; dwell "$@" || echo "= $?"; }
exec 2>&1
dwell prof --no-header >procedures
for words in report "prof --by function" "prof -i db" "report --sort symbol" "report --stdio --no-children" "report -n"; do
	dwell $words --no-header | diff procedures - && echo "$words: the same"
done
dwell prof --by image --no-header >images
for words in "report --sort dso" "prof --by dso" "prof --by-image"; do
	dwell $words --no-header | diff images - && echo "$words: the same"
done
dwell annotate -no-header -asm hot prog | head -n 2
dwell annotate --stdio --no-header --asm -s hot prog | head -n 2
try list
try annotate a b c
try report --no-header -n 2
try prof --no-header --limit 1 --sort comm,dso,sym
try prof --no-header --limit=0
try prof --no-header --by thread -n 2
try prof --no-header -p 10
try prof --no-header -p 99
try prof --path gone
try import --path gone perf.data
try import -p prog perf.data
try top --limit 1 --no-header
try tree -n 3
try report -g
try script
try script make
try stats -i
try -V
try report -V
# Under DCPI's names, -i and -p are what they were.
for name in dcpiprof dcpistats; do ln -s "$BUILD/dwell" $name; done
./dcpiprof -no_header | diff images - && echo "dcpiprof: by image"
./dcpiprof -no_header -i -p . prog
./dcpiprof -p gone
# perf.data is read where there is no database, and only there.
perf_records | mkperf >perf.data
unset DWELLDB
try report --no-header -n 1
try tree --no-header --depth 1
dwell cat >cat 2>notes; head -n 1 notes
DWELLDB=db dwell prof --no-header -n 1
rm perf.data
try report
