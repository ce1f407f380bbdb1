# HPCToolkit databases: threads, and their points.
mkhpc db released
try() { echo "$ dwell trace $*"; dwell trace "$@" || echo "= $?"; }
try db
try db --from 0.1 --to 0.25 --width 0
try db --thread rank=1 --no-header --width 0
try db --thread 1 --depth 2 --no-header --width 0
try db --range 0.5.. --csv
try db --csv
try db --thread 2 --to 50ms --json
mkhpc page page
dwell trace --csv --from 0 page >a
dwell trace --csv --from 0 db | diff - a && echo both layouts agree
