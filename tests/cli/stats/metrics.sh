# HPCToolkit databases beside recordings: how far their amounts are apart.
make_diff_dbs
dwell hpc -o a old >/dev/null 2>&1
dwell hpc -o b new >/dev/null 2>&1
try() { echo "$ dwell stats $*"; dwell stats "$@" 2>&1 || echo "= $?"; }
try a b
try a b old new --by image
try --shares --by image a b
try --json --by image a old
try --keep 50 a b
try --pm retired a b
try --each --db a
