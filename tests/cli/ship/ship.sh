# What needs no server: the tables, and what is refused before anything is sent.
epoch_of db web1 1 11
export DWELLDB=db HOME=$PWD
try() { echo "$ $*"; "$@" 2>&1; echo "= $?"; }
try dwell ship --schema
try dwell ship
try dwell ship --to ftp://server/fleet
try dwell ship --to http://somebody:secret@server/fleet
try dwell ship --to 'http://server/fleet;DROP TABLE x'
try dwell ship --to 'http://ser ver/fleet'
try dwell ship --to http://
printf 'user\nsecret\n' >login
chmod 644 login
try dwell ship --to http://server/fleet --login login
chmod 600 login
printf 'user' >login
try dwell ship --to http://server/fleet --login login
try dwell ship --to http://server/fleet --login nowhere
rm login
try dwell ship --to http://127.0.0.1:1/fleet
try dwell ship --to http://127.0.0.1:1/fleet --db nowhere
try dwell prof --db clickhouse://127.0.0.1:1/fleet
try dwell prof --db clickhouse://u:p@127.0.0.1/fleet
try dwell epochs --db clickhouse://127.0.0.1:1/fleet
try dwell gc --db clickhouse://127.0.0.1:1/fleet
# What is remembered goes below nothing that others may write to.
echo 'meta here 880000000 60 x' | mkdb db
mkdir -m 777 shared && chmod 777 shared
XDG_STATE_HOME=$PWD/shared try dwell ship --to http://127.0.0.1:1/fleet
XDG_STATE_HOME=$PWD/shared/home try dwell ship --to pyroscope+http://127.0.0.1:1
find shared
