make_usual_db
ln -s "$BUILD/dwell" dcpiprof
DCPIDB=db ./dcpiprof -no_header -event cycles prog
./dcpiprof -x
# Programs of DCPI's that dwell does not have.
for name in dcpi2bb dcpicoverage; do
	ln -s "$BUILD/dwell" $name
	./$name prog
done
