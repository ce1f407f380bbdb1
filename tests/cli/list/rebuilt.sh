make_usual_db
dwell prof --db db prog >/dev/null
echo 'int extra;' >>prog.c
gcc -c -O2 prog.c && ld -Ttext=0x401000 --build-id -o prog start.o prog.o more.o
dwell list --db db -no_header -event cycles hot prog
