# Derived columns of dwell's own events stand for what was counted: samples times period over duty.
make_tree_db
export DWELLDB=db
dwell tree --no-header --depth 3 --derive 'misses per kilocycle = 1000 * imiss / cycles' --derive 'half=cycles/2'
dwell prof --no-header --by procedure --derive 'ratio = imiss / cycles'
dwell prof --json --by image --derive 'ratio = imiss / cycles' | grep -A3 '"counts"'
