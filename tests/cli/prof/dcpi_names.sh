make_usual_db
ln -s "$BUILD/dwell" dcpiprof
DCPIDB=db ./dcpiprof -no_header -event cycles prog
./dcpiprof -x
# Programs of DCPI's that dwell does not have.
for name in dcpi dcpi2ps dcpicc dcpidis dcpikdiff dcpildlatency dcpisumxct \
	dcpiuninstall dcpiupcalls dcpivarg dcpivcat dcpivlst dcpivprofiler dcpix; do
	ln -s "$BUILD/dwell" $name
	./$name prog || [ $? = 2 ] || echo "exit $?"
done
dwell dcpicoverage prog || echo "exit $?"
