# What ran in virtual machines is no user code of this machine: the header tells it apart.
mkperf >guests.data <<-END
	event 1000000
	exec 10 qemu
	sample 10 10 10 u 401035
	sample 10 10 11 k ffffffff81000010
	sample 10 10 12 gk ffffffff81000010
	sample 10 10 13 gu 1010
	sample 10 10 14 h 1010
	sample 10 10 15 gu 1010
	sample 10 10 16 gu 1010
	sample 10 10 17 u 401035
	round
END
dwell import --db kept guests.data >/dev/null
for db in guests.data kept; do
	dwell prof --db $db --by image
	dwell prof --db $db --json | grep '"name"'
done
