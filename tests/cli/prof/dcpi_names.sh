make_usual_db
ln -s "$BUILD/dwell" dcpiprof
DCPIDB=db ./dcpiprof -no_header -event cycles prog
./dcpiprof -x
