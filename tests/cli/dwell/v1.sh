# What 0.1.0 wrote opens, lists, merges, is repaired and bundled, for ever; readers rewrite nothing of it.
tar xzf "$CLI/../golden/v1/v1.tar.gz"
try() { echo "$ $*"; "$@" 2>&1; echo "= $?"; }
sums() { (cd db && find . -type f | sort | xargs sha256sum); }
rows() { dwell prof --no-header --csv --by procedure "$@" 2>&1; }
sums >before
try dwell check db
dwell epochs db --csv | cut -d, -f1-4,6-10
for e in $(ls db/epochs); do echo "$e:"; rows --db db --epoch $e; done
dwell tree --db db --no-header --csv --epoch 20261122172729 2>&1
dwell trace --db db --csv --epoch 20261122172729 2>&1 | wc -l
rows --db db --epoch all >all
dwell tar --db db --epoch all -o now.tar 2>&1
sums | diff before - && echo untouched
tar xf now.tar
rows --db now --epoch all | diff all - && echo "same in a bundle"
tar xf bundle.tar
rows --db bundle
dwell prof --db tree --no-header --csv --by procedure loop 2>&1
# A new recording of that host recovers what was killed; nothing is lost, nothing twice.
epoch_of db golden 60000 11
epoch_of db other 60001 12
dwell epochs db --csv | cut -d, -f1-4,6-10
rows --db db --epoch ..20261122172747 | diff all - && echo "same when recovered"
try dwell check db
# Damage is found and mended.
printf x | dd of=db/epochs/20261122172729/golden/000001.seg bs=1 seek=100 conv=notrunc 2>/dev/null
try dwell check db
dwell check --repair db >/dev/null 2>&1
try dwell check db
