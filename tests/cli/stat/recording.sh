# What a recording counted: the events' own counts of all, which are exact, and shares of processes, which are of samples.
mkdb db <<END
meta vax 880000000 10 make
image file /usr/lib/gone.so
event cycles 1000 10000000 10000000 402000
owner - - comm=cc1 pid=20 tid=20
sample 400 300
owner - - comm=as pid=21 tid=21
sample 400 100
event instructions 1000 10000000 10000000 805000
owner - - comm=cc1 pid=20 tid=20
sample 400 750
owner - - comm=as pid=21 tid=21
sample 400 50
event page-faults 1 10000000 10000000 60
owner - - comm=cc1 pid=20 tid=20
sample 400 40
owner - - comm=as pid=21 tid=21
sample 400 20
event major-faults 1 10000000 10000000 12
owner - - comm=cc1 pid=20 tid=20
sample 400 10
END
dwell stat -i db
dwell stat -i db --json | jq -c '.rows[] | select(.pid == 20 or .pid == null)'
dwell stat -i db --csv | head -n 3
dwell stat -i db -o there || echo "exit $?"
dwell stat -i db -- true || echo "exit $?"
# Many processes: a table has the first, all else is told.
{
	printf '%s\n' 'meta vax 880000000 10 make' 'image file /usr/lib/gone.so' 'event cycles 1000 10 10 90000'
	for i in $(seq 30); do printf 'owner - - comm=p%d pid=%d tid=%d\nsample 400 %d\n' "$i" "$i" "$i" "$i"; done
} | mkdb many
dwell stat -i many | sed -n '6,9p;$p'
dwell stat -i many --csv | wc -l
mkdir empty
dwell stat -i empty || echo "exit $?"
