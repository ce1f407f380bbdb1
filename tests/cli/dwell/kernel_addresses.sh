# Run-time addresses of the kernel are for who may see them.
setpriv --reuid 65534 --regid 65534 --clear-groups dwell version >/dev/null 2>&1 || { echo "cannot run as another user"; exit 77; }
head -1 /proc/kallsyms | grep -q "^0000000000000000" && { echo "not even root sees them here"; exit 77; }
setpriv --reuid 65534 --regid 65534 --clear-groups head -1 /proc/kallsyms | grep -q "^0000000000000000" || { echo "everybody sees them here"; exit 77; }
make_db <<-END
	event cycles 1000
	image unknown -
	sample ffffffffc0123456 3
	sample 7f0000001234 2
END
chmod -R a+rX db
chmod 755 .
for who in 0 65534; do
	setpriv --reuid $who --regid $who --clear-groups dwell top --no-header --db db
done
dwell export --folded --db db
