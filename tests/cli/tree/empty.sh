# A recording without samples: every view says so.
printf 'meta vax 880000000 60 make\nevent cycles 1000 400 400 0\n' | mkdb db
for how in "tree" "tree --flat" "tree --by comm" "export --folded" "prof" "top"; do
	dwell $how --db db 2>&1 || echo "exit $?"
done
