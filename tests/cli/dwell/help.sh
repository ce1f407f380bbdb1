dwell help | head -n 6
dwell prof --help | head -n 4
dwell help prof | head -n 4
