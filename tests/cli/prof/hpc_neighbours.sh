# HPCToolkit databases: who called a procedure, and what it called.
mkhpc db released
try() { echo "$ dwell prof $*"; dwell prof "$@" || echo "= $?"; }
# Recursion is folded: solve calls itself.
try db --callers solve
try --no-header db --callees solve
try db --callees main --event CPUTIME
try --no-header db --callees main --keep 90
# Inlined, known by name without its image, and an entry.
try --no-header db --callers inner --event CPUTIME
try --no-header db --callers memcpy --event CPUTIME
try --no-header db --callees 'main thread' --event CPUTIME
try --no-header db --callers 'main thread' --event CPUTIME
# One image, some threads, derived columns.
try --no-header db prog --callers main --event CPUTIME
try --no-header db libc.so.6 --callers main --event CPUTIME
try --no-header db --callees main --thread rank=0
try --no-header db --callees main --derive 'cpi = cycles / CPUTIME'
try --csv db --callees solve --event cycles
try --json db --callees sub_500 --event cycles
# Rows add up to the procedure's inclusive amount.
dwell prof --csv --db db --by procedure --event cycles >rows
for p in main solve sub_500 inner; do
	for kind in callers callees; do
		sum=$(dwell prof --csv --db db --$kind $p --event cycles | awk -F, 'NR > 1 { n += $1 } END { print n }')
		grep -q "$sum.*$p" rows && echo "$kind of $p: $sum"
	done
done
mkhpc page page
dwell prof --csv --db page --callees solve --event cycles >a
dwell prof --csv --db db --callees solve --event cycles | cmp - a && echo both layouts agree
