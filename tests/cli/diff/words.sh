# Sets by words; what is no set; exit statuses.
make_diff_dbs
{
	recording one blue 900 100 50 3
	recording two green 900 100 500 3
} | grep -v "^meta" | make_db
try() { echo "$ $*"; "$@"; echo "= $?"; }
try dwell diff --db db --no-header label=blue label=green
try dwell diff --db db --no-header "comm=one label=blue" comm=two
try dwell diff --no-header "db=old" "db=new host=testhost epoch=latest"
try dwell diff --db db --no-header all latest
try dwell diff --no-header --fail-above 5 old new
try dwell diff --no-header --fail-above 15 old new
try dwell diff --no-header --fail-above 0 --all old old
# A time of day behind its date, and quotes, are of the word before the blank.
try dwell diff --db db --no-header --min 100 "comm=one until=2030-01-01 13:24" "comm=two since=1970-01-02T13:24"
try dwell diff --db db --no-header --min 100 "comm='one' label=\"blue\"" "comm='t'wo"
try dwell diff --db db "comm=one until=1970-01-01 13:24" comm=two 2>&1
try dwell diff --db db "comm='one two'" comm=two 2>&1
try dwell diff --db db "comm=one 13:24" comm=two 2>&1
try dwell diff old 2>&1
try dwell diff --by colour old new 2>&1
try dwell diff --alpha 0 old new 2>&1
try dwell diff --event imiss old new 2>&1
try dwell diff --db old latest 1999 2>&1
try dwell diff old "db=new colour=red" 2>&1
try dwell diff old "db=new label=red" 2>&1
try dwell diff old new nothing.so 2>&1
echo "event imiss 10
image file $PWD/prog
sample 401035 7" | make_db
mv db other
try dwell diff old other 2>&1
