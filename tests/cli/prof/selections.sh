make_usual_db
export DWELLDB=db
dwell prof --by image -no_header -event imiss+cycles
dwell prof -no_header -sort imiss prog
dwell prof --by image -no_header -label green -event cycles
dwell prof -no_header -keep 60 -event cycles --by procedure
dwell prof -no_header --by image prog
dwell prof --by image -no_header --kind -event cycles
