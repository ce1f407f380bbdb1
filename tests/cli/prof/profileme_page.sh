make_pm_db
mkdir bin
for name in dcpiprof dcpilist; do
	ln -s "$BUILD/dwell" bin/$name
done
PATH=$PWD/bin:$PATH DCPIDB=db
export DCPIDB
# The command lines of dcpiprofileme(1), EXAMPLE USAGE, as it prints them.
while read -r line; do
	echo "\$ $line"
	eval "$line"
	echo
done <<'END'
dcpiprof -sp retired:retdelay -pm retired+trap^\!dtbmiss
dcpiprof -pm retired:retdelay a.out
dcpiprof -pm default+retired:retdelay::retired a.out
dcpiprof -event cycles -pm mispredict::retired a.out
dcpiprof -sp \!notrap -pm \!notrap a.out
dcpilist -pm retired main a.out
dcpilist -pm \!notrap main a.out
dcpilist -pm \!notrap+retired main a.out
dcpilist -event cycles -pm trap+replays+ldstorder+mispredict main a.out
END
