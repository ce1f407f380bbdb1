make_usual_db
dwell list --db db same prog
echo "exit $?"
dwell list --db db -no_header -event cycles 0x401044 prog
