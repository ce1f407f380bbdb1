# What would go, what goes, and what stays.
for hour in 1 2 3 4 5 6; do epoch_of db web1 $hour 1$hour; done
epoch_of db web2 30 700
export DWELLDB=db
try() { echo "$ $*"; "$@"; echo "= $?"; }
try dwell gc --keep 4 --dry-run --csv
try dwell gc --keep 4 --max-age 0 --max-size 0
try dwell gc --keep 4
dwell epochs
try dwell gc --keep 2 --max-age 0 --max-size 1 --json
dwell epochs --csv
try dwell gc --max-size 10X 2>&1
try dwell gc db 2>&1
try dwell gc --db nowhere 2>&1
