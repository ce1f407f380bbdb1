# What `dcpid -slot pm DIR` leaves behind, made from a recording: dcpiprof and dcpilist say of the tree what
# they say of the database that it was written from.
make_pm_db
dwell export --dcpi -o tree --db db
for name in dcpiprof dcpilist; do
	ln -s "$BUILD/dwell" $name
done
ls tree/*/* | sed 's/\.[0-9a-f]\{16\}$//' | sort | uniq -c
both() {
	DCPIDB=db "$@" >from_db && DCPIDB=tree "$@" | diff from_db - && echo "same: $*"
}
both ./dcpiprof -sp retired:retdelay -pm 'retired+trap^!dtbmiss'
both ./dcpiprof -pm retired:retdelay a.out
both ./dcpiprof -event cycles+pm -pm default+retired:retdelay::retired a.out
both ./dcpiprof -event cycles -pm mispredict::retired a.out
both ./dcpilist -event cycles -pm trap+replays+ldstorder+mispredict main a.out
./dcpiprof -no_header -pm any:inflight+retired -db tree
# One of its files is a database, too; and all of it in one more tree.
./dcpiprof -no_header -pm retired -db "$(ls tree/*/*/gone.so.retired*m1count*)" | head -n 2
dwell export --dcpi -o again --db tree
diff -r tree again && echo 'the same files'
