# Databases nobody records into, and what nobody understands.
ctl() {
	dwell ctl "$@"
	echo "exit $?"
}
mkdir db
echo "dwell database 1" >db/VERSION
ctl --db db status
ctl --db db flush
ctl --db db label x -- true
ctl --db nowhere quit
ctl --db db
ctl --db db stop
ctl --db db flush now
ctl --db db label x
ctl --db db label "" -- true
ctl --db db label "$(printf %0200d 1)" -- true
# A socket that a dead daemon left.
python3 - <<'END'
import os, socket
s = socket.socket(socket.AF_UNIX)
s.bind("db/control." + os.uname().nodename)
END
ctl --db db status
