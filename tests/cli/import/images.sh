# An image is its build-id: where it was, below --symfs, with -p; never another file of its name.
make_perf_data
show() { dwell prof --db $1 --no-header --by image,procedure | grep prog; }
echo in its place
dwell import --db there perf.data >/dev/null && show there
mkdir -p root"$PWD" aside && cp prog aside && mv prog root"$PWD"
rm -rf there
echo gone
dwell import --db gone perf.data >/dev/null && show gone
echo another one
sed -i 's/i ^ n/i + n/' prog.c
gcc -c -g -O1 -fcf-protection=none -fno-asynchronous-unwind-tables -fno-tree-vectorize prog.c
ld -Ttext=0x401000 --build-id -o prog start.o prog.o more.o
dwell import --db another perf.data >/dev/null && show another
echo --symfs
dwell import --db symfs --symfs root perf.data >/dev/null && show symfs
echo -p
dwell import --db path --path aside perf.data >/dev/null && show path
# Names stay when all files go.
rm -rf root aside
echo kept
show symfs
show path
