# HPCToolkit databases: lines with the database's copies of sources, instructions.
mkhpc db released
try() { echo "$ dwell list $*"; dwell list "$@" || echo "= $?"; }
try db solve
try db main prog --no-header
try db solve --asm
try db solve --both --no-header --event cycles --thread 1
try db memcpy --no-header 2>&1
try db inner --no-header --event CPUTIME 2>&1
try --csv db solve --both --event CPUTIME
try --json db main --event CPUTIME
