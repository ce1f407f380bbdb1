# A database of the system, read by members of a group, and by nobody else.
setpriv --reuid 65534 --regid 60000 --clear-groups dwell version >/dev/null 2>&1 || { echo "cannot run as another user"; exit 77; }
make_prog
make_db <<-END
	meta vax 880000000 60 make
	event cycles 1000
	image file $PWD/prog
	sample $(sym hot) 50
	image unknown -
	sample ffffffffc0123456 3
	sample 7f0000001234 2
END
chgrp -R 60000 db
chmod -R g+rX,o= db
chmod 755 .
as() {
	echo "$ $*"
	group=$1
	shift
	HOME=/nonexistent setpriv --reuid 65534 --regid "$group" --clear-groups "$@"
	echo "= $?"
}
as 60000 dwell prof --by image --no-header --db db
as 60000 dwell prof --no-header --db db prog
as 60000 dwell epochs --csv db | cut -d, -f2,6
as 60000 dwell diff --no-header --all --by image --db db latest all
as 60000 dwell check db
as 60000 dwell gc --db db --max-age 1 --keep 1 2>&1
as 60001 dwell prof --by image --db db 2>&1
as 60001 dwell gc --db db 2>&1
