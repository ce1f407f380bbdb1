# dcpid is installed as a link to dwelld; a link to dwell does the same.
ln -s "$BUILD/dwell" dcpid
./dcpid -version | sed 's/[0-9][0-9.]*/N/'
./dcpid -help | head -n 1
# $DCPIDB names a tree that was kept up to date before: the database is another.
mkdir -p old db
echo "$PWD/db" >old/.dwelld
HOME=$PWD DCPIDB=old ./dcpid -t cpu-clock -no-pin /proc/nowhere/tree 2>&1 | grep -c "not a dwell database"
./dcpid -no_such_option DIR
