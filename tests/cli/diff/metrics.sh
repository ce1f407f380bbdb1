# HPCToolkit databases, and a recording beside one: amounts and their change, since chance is not known for metrics.
make_diff_dbs
dwell hpc -o a old >/dev/null 2>&1
dwell hpc -o b new >/dev/null 2>&1
mkhpc other released
try() { echo "$ dwell diff $*"; dwell diff "$@" 2>&1 || echo "= $?"; }
try a b
try --by image --all a b
try --by line --min 5 a b
try --csv --by address --all a b
try --absolute --no-header a b prog
try --json --by image --all a b
try a a
# A recording and the database made of it have the same shares.
try --all old a
try --all a old
# Threads of one database.
try --by image other 'db=other thread=rank=0'
# What cannot be compared.
try a other
try a other --event nothing
try --alpha 0.1 a b
try --pm retired a b
try a 'db=b comm=make'
try a b gone
# A row that grew too much.
try --no-header --fail-above 1 a b
try --no-header --fail-above 90 a b
