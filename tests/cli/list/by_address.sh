make_usual_db
dwell list --db db -no_header -event cycles -asm 0x40102e prog | head -n 3
dwell list --db db -no_header -event cycles -asm 0x401048 prog | head -n 3
dwell list --db db 0x999999 prog
