# DCPI's names of events say what to use today.
for event in imiss dmiss bmiss retires replaytrap; do
	dwell record -e $event true
done
make_usual_db
dwell prof --by image --db db -event retires
dwell prof --by image --db db -event imiss -no_header
