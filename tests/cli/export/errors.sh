try() { "$@"; echo "exit $?"; }
make_db <<-END
	meta ../../etc 880000000 60 make
	event cycles 1000
	image file /bin/..
	sample 1000 99999999999999999
	image file /bin/odd
	sample 1001 1
	sample 1003 1
END
try dwell export --db db -o tree
try dwell export --db db --dcpi
try dwell export --db db --dcpi --version 1.01 -o tree
try dwell export --db db --dcpi -o tree
try dwell export --db db --dcpi -o tree --stride 4 odd
try dwell export --db db --dcpi -o tree --stride 3 odd
try dwell export --db db --dcpi -o /dev/null/tree odd
try dwell export --db nowhere --dcpi -o tree
ls
# A link in place of the epoch or the host is not followed.
try dwell export --db db --dcpi -o tree odd
rm -r tree/*
mkdir away
ln -s ../away tree/19971120042640
try dwell export --db db --dcpi -o tree odd
ls away
# A foreign file in the tree, and a damaged one.
rm -r tree
dwell export --db db --dcpi -o tree odd
host=$(echo tree/*/*)
echo x >$host/.hidden
echo x >$host/dcpid.log
try dwell prof --by image --db tree -no_header
echo x >$host/core
try dwell prof --by image --db tree
rm $host/core
for f in $host/odd*; do truncate -s -1 $f; done
try dwell prof --by image --db tree
