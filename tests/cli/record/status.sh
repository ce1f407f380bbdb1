# The exit status is the command's; 125, 126 and 127 are as env(1).
status() { dwell record --db db "$@" >out 2>err; echo "exit $?"; grep -v 'sampling\|user code\|clock\|cycles\|^ *$' err | grep '^dwell record: '; }
status true
status -- sh -c 'exit 3'
status -- sh -c 'exit 255'
status -- sh -c 'kill -TERM $$'
status -- sh -c 'kill -KILL $$'
status -d 100ms -- sh -c 'sleep 0.4; exit 7'
status -d 10ms -p $$
status -- ./no/such/command
touch file && chmod 644 file && status -- ./file
mkdir dir && status -- ./dir
status --no-such-option true
status -F 1 -c 1 true
status
touch notdir
dwell record --db notdir -- true >out 2>err
echo "exit $?"

# With -q nothing is said of what went well.
dwell record -q -e cpu-clock --db quiet -- true >out 2>err
echo "exit $?, $(grep -cv 'sampling\|user code' err) lines"
