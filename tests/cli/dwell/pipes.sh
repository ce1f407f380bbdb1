# An operand that is a pipe is not opened to see what it is: that would wait for who writes into it.
mkfifo pipe
for command in prof tree top flame check; do
	timeout 20 dwell $command pipe </dev/null
	echo "$command: $?"
done
# Nor is a pipe that somebody put into a database waited for.
make_usual_db
dwell tar --db db -o kept.tar >/dev/null
rm prog
for file in db/images/*/*; do
	rm "$file" && mkfifo "$file"
done
rm -f "db/daemon.$(hostname)" && mkfifo "db/daemon.$(hostname)"
timeout 20 dwell tar --db db -o kept.tar >/dev/null 2>&1 </dev/null
echo "tar: $?"
timeout 20 dwell ctl --db db clean >/dev/null 2>&1 </dev/null
[ $? != 124 ] && echo "ctl clean does not wait"
timeout 20 dwell check db 2>&1 </dev/null | sed "s,images/.*,images/...,"
