# Many sets: by words, and each epoch by itself.
make_prog
for k in 1 2 3 4; do
	{
		echo recording host$((k % 2)) $((1609459200 + k * 3600))
		recording run$k label$k $((1000 + k)) 500 $((k * k * 10)) 7
	} | make_db
done
try() { echo "$ $*"; "$@"; echo "= $?"; }
export DWELLDB=db
try dwell stats --each
try dwell stats --each --shares --no-header --range 1
try dwell stats --by image --no-header 2021010101 2021010102 epoch=2021010104
try dwell stats --by line --image prog --keep 99 --csv --epoch all label=label1 label=label2
try dwell stats --each --since 2021-01-01T03 --json --image gone.so
try dwell stats 2021010101 2>&1
try dwell stats --each --epoch latest --host host0 2>&1
try dwell stats --each db 2>&1
try dwell stats 2021010101 2021010109 2>&1
