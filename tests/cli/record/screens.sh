# The account of a recording fits the screen.
for columns in 60 80 120 200; do
	COLUMNS=$columns dwell record --db db -e cpu-clock -g -- true 2>account || { echo "cannot record here"; exit 77; }
	grep -c '^recorded' account
	awk -v most=$columns '/^ |^recorded/ && length($0) > most { print "too wide: " $0 }' account
done
