make_usual_db
export DWELLDB=db
dwell prof -no_header -event imiss+cycles
dwell prof -no_header -sort imiss prog
dwell prof -no_header -label green -event cycles
dwell prof -no_header -keep 60 -event cycles --by procedure
dwell prof -no_header -i prog
dwell prof -no_header --kind -event cycles
