try() { "$@"; echo "exit $?"; }
dwell 2>&1 | head -n 4
try dwell prag
try dwell xyzzy
try dwell help xyzzy
try dwell --version
try dwell version --json
dwell help >&-
echo "exit $?"
