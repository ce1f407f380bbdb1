make_db <<END
event cycles 1
END
dwell prof --db db -no_header
