# An HPCToolkit database as it is written, in both layouts, then damaged.
make_tree_db
try() { echo "$ $*"; "$@"; echo "= $?"; }
for layout in released page; do
	dwell hpc --layout $layout --no-sources --db db -o $layout >/dev/null 2>&1
	try dwell check $layout 2>&1
done
# nValues of profile 1, then the footer.
printf '\377\377' | dd of=released/profile.db bs=1 seek=118 conv=notrunc 2>/dev/null
try dwell check released 2>&1
try dwell check --json released 2>&1
try dwell check --csv --max 1 released 2>&1
truncate -s -1 released/cct.db
try dwell check --max 1 released 2>&1
try dwell check --max 0 released 2>&1
# A value of cct.db alone: offset of the first one.
at=$(dwell cat page/cct.db | awk '$2 == "profIndex" { print $1; exit }')
printf '\001' | dd of=page/cct.db bs=1 seek=$((0x$at + 4)) conv=notrunc 2>/dev/null
try dwell check page 2>&1
rm page/meta.db page/profile.db
try dwell check page 2>&1
