make_db <<END
event cycles 1
image file /tmp/$(printf '\033[2J\177')x
sample 10 3
END
dwell prof --db db -no_header
dwell prof --db db --csv | od -c | head -3
dwell prof --db db --json | grep image
