# HPCToolkit databases: by thread, and one context in all threads.
mkhpc db page
try() { echo "$ dwell prof $*"; dwell prof "$@" || echo "= $?"; }
try db --by thread
try --no-header db --by thread --thread rank=0
try db --context 4+14+11 --event cycles
try --no-header db --context 9
try --no-header db --context 4242
try --json db --context 9 --event CPUTIME
try --csv db --by thread --keep 50
try db --context 2 --keep 0
