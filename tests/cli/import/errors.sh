# What cannot be done is said in a line, and nothing is left behind.
make_perf_data
try() { echo "$ dwell import $*"; dwell import "$@" 2>&1; echo "status $?"; }
try
try --by group --db db perf.data
try --db db gone.data
try --db db perf.data gone.data
rm -rf db
echo "no recording" >text
: >empty
mkdir folder
try --db db text
try --db db empty
try --db db folder
try --db text perf.data
head -c 100 perf.data >short
try --db db short
try --force --db db short
ls
