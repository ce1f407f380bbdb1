make_usual_db
try() { "$@"; echo "exit $?"; }
try dwell list --db db hto
try dwell list --db db hat prog
try dwell list --db db -asm -source hot prog
try dwell list --db db f gone.so
try dwell list --db db 0x1234 gone.so
