# One line for each mistake, and nothing left behind.
make_usual_db
export DWELLDB=db
try() { echo "$ $*"; dwell hpc "$@"; echo "status $?"; }
try --layout new
try --stat mean,median
try --jobs 5000
try --db db db
try gone
try prog.c
try --label none
try --event cycles --comm nobody
mkdir empty full && touch full/letter
try -o full
try -o full --force
try -o empty
try -o empty
try -o empty --force
try -o prog/out
cat >nothing <<-END
	event cycles 1000
	image file $PWD/prog
	loss ring_full 4
END
mkdb idle <nothing && try --db idle -o nothing.db
ls -d *.tmp-* *.old-* nothing.db 2>/dev/null
ls full
try
ls -d hpctoolkit-*
