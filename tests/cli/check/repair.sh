# Damage of every kind, and what is left after repair.
for hour in 1 2 3 4 5; do epoch_of db web $hour 1$hour; done
try() { echo "$ $*"; "$@"; echo "= $?"; }
at() { echo "db/epochs/202101010${1}0000/web/$2"; }
export DWELLDB=db
printf x | dd of="$(at 1 000001.seg)" bs=1 seek=100 conv=notrunc 2>/dev/null
echo nonsense >"$(at 2 MANIFEST)"
rm "$(at 3 000001.seg)"
touch "$(at 4 .MANIFEST.1.tmp)"
echo "this is no journal, though it has its name and length" >"$(at 5 journal)"
echo nonsense >db/hosts/web
mkdir -p db/images/abcdef
echo nonsense >db/images/abcdef/symbols
try dwell prof --by image --no-header --epoch all 2>&1
try dwell check db
try dwell check --repair db
try dwell check db
try dwell prof --by image --no-header --epoch all
dwell epochs --csv
(cd db && find epochs -path '*/lost/*' | sort)
epoch_of db web 6 100
try dwell prof --by image --no-header
try dwell check --repair nowhere 2>&1
