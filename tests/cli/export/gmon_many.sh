# More samples than a counter of gmon.out holds: gprof adds up what is written.
make_prog
hot=$(sym hot) cold=$(sym cold)
counts() {
	make_db <<-END
		meta vax 880000000 60 prog
		event cycles 1000
		owner - - comm=prog exe=$PWD/prog
		image file $PWD/prog
		sample $hot $1
		sample $(printf %x $((0x$hot + 1))) 65535
		sample $(printf %x $((0x$hot + 2))) 65535
		sample $cold $2
		sample $(printf %x $((0x$cold + 1))) 65536
	END
}
counts 1000000000 131070
dwell export --gmon -o a.gmon.out db
gprof -b -p prog a.gmon.out | awk '$NF == "hot" || $NF == "cold" { print $NF, $3 }'
echo $((1000000000 + 2 * 65535)) $((131070 + 65536))
dwell prof --db a.gmon.out --path prog --csv --no-header | cut -d, -f1
rm -r db
counts 1 99999999999999999
dwell export --gmon -o b.gmon.out db || echo "exit $?"
ls b.gmon.out
