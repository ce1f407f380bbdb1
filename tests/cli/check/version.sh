# VERSION and kept unwind tables are files of a database, too.
try() { echo "$ $*"; "$@" 2>&1; echo "= $?"; }
epoch_of db web 1 10
dwell prof --by image --no-header --db db >before
for text in "dwell database r" "dxell database 2" "dwell database 0" ""; do
	echo "VERSION is '$text'"
	echo "$text" >db/VERSION
	try dwell prof --by image --no-header --db db
	try dwell check db
done
rm db/VERSION
echo "none"
try dwell check db
try dwell check --repair db
cat db/VERSION
try dwell check db
dwell prof --by image --no-header --db db | diff - before && echo "as before"
echo "dwell database 3" >db/VERSION
try dwell check --repair db
echo "dwell database 2" >db/VERSION
mkdir -m 700 db/tables
echo nonsense >db/tables/0123456789abcdef0123456789abcdef
try dwell check db
try dwell check --repair db
ls db/tables
manifest=$(echo db/epochs/*/*/MANIFEST)
cp $manifest manifest
for version in 1 3 6 r; do
	echo "MANIFEST's version is '$version'"
	sed "s/\"version\": 2/\"version\": $version/" manifest >$manifest
	try dwell prof --by image --no-header --db db
	try dwell check db
	try dwell check --repair db
	cmp manifest $manifest && echo "as before"
done
echo "a newer MANIFEST"
sed "s/\"version\": 2/\"version\": 3/; s/\"label\": \"/&x/" manifest >$manifest
cp $manifest newer
try dwell prof --by image --no-header --db db
try dwell check --repair db
cmp newer $manifest && echo "as before"
cp manifest $manifest
mkdir other other/epochs
echo text >other/file
try dwell check other
