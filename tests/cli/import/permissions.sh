# A new database is its owner's alone, whatever the umask is; --group lets a group read it.
make_perf_data
modes() { find "$1" -printf '%y %m\n' | sort | uniq -c | sed 's/^ *[0-9]* //'; }
for mask in 000 077 022; do
	umask $mask
	dwell import --db mine$mask perf.data >/dev/null 2>&1
	echo "umask $mask:"
	modes mine$mask
	dwell import --group "$(id -g)" --db ours$mask perf.data >/dev/null 2>&1
	echo "umask $mask, --group:"
	modes ours$mask
done
umask 022
mkdir empty
dwell import --db empty perf.data >/dev/null 2>&1
echo "an empty directory that was there:"
modes empty
# A database that is there keeps its permissions, and gives them to what is new in it.
cp -r mine022 old
find old -type d -exec chmod 755 {} +
find old -type f -exec chmod 644 {} +
dwell import --group "$(id -g)" --db old perf.data >/dev/null 2>&1
echo "one of others' permissions:"
modes old
dwell import --group nobody-has-this-name --db none perf.data
echo "status $?"
[ ! -e none ]
