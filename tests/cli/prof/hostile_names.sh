make_db <<END
event cycles 1
image file /tmp/$(printf '\033[2J\177')x
sample 10 3
END
dwell prof --by image --db db -no_header
dwell prof --by image --db db --csv | od -c | head -3
dwell prof --by image --db db --json | grep image
