# HPCToolkit databases: by image, file, procedure, line, address.
mkhpc db released
try() { echo "$ dwell prof $*"; dwell prof "$@" || echo "= $?"; }
try db
try --no-header db libc.so.6 prog
try --no-header db --by file --event CPUTIME
try --no-header db --by procedure --no-inclusive --keep 80
try --no-header db --by procedure --sort inclusive --event CPUTIME
try --no-header db --by line --event CPUTIME
try --no-header db --by address --event CPUTIME
try --no-header --csv --db db --by procedure
mkhpc page page
dwell prof --csv --db page --by line >a
dwell prof --csv --db db --by line | diff - a && echo both layouts agree
