# Rows by whose the samples are.
make_owners_db
export DWELLDB=db
try() { echo "$ $*"; "$@" 2>&1; }
try dwell prof -no_header --by comm
try dwell prof -no_header --by comm,pid
try dwell prof -no_header --by tid,comm,label --comm cc1,make
try dwell prof -no_header --by exe,uid
try dwell prof -no_header --by cgroup,label
try dwell prof -no_header --by unit
try dwell prof -no_header --by container,comm
try dwell prof --by host
try dwell prof -no_header --by comm prog
try dwell prof -no_header --by comm,procedure --keep 80
try dwell prof -no_header --by procedure,comm prog
try dwell prof -no_header --by image,comm --kind
try dwell prof -no_header --csv --by pid,exe
try dwell prof -no_header --csv --by label,procedure --pid 10,12
dwell prof --json --by comm,pid | sed -n '/rows/,$p'
try dwell prof --by comm,line
try dwell prof --by ''
try dwell prof --by comm --inclusive
try dwell prof --by procedure --inclusive
dwell export --dcpi -o tree >/dev/null
try dwell prof --db tree -no_header --by label
try dwell prof --db tree --by comm
:
