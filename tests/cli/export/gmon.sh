# gmon.out of one program, as gprof prints it: samples in libraries and the kernel are left out.
make_paths_db
dwell export --gmon -o a.gmon.out db
gprof -b -p prog a.gmon.out | sed 's/ *$//'
gprof -b -q prog a.gmon.out | sed 's/ *$//' | sed -n '/index/,/^$/p'
echo "-- no program:"
dwell export --gmon -o b.gmon.out db mark
