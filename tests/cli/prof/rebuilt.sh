make_usual_db
echo 'int extra;' >>prog.c
gcc -c -O2 prog.c && ld -Ttext=0x401000 --build-id -o prog start.o prog.o more.o
rm -rf db/images
dwell prof --db db -no_header prog
