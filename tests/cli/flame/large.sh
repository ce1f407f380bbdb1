# Names that nothing can pack: the page stays below its bound, no sample is lost, and the page says what it left out.
awk 'BEGIN {
	srand(1)
	print "event cycles 1"
	print "owner - - comm=x"
	for (i = 0; i < 16000; i++) {
		name = ""
		for (k = 0; k < 22; k++)
			name = name sprintf("%08x", int(rand() * 4294967295))
		printf "image file /%s\nframe %d\nsample 1000 %d\npath\n", name, 1 + i % 50, 1 + i % 500
	}
}' | make_db
dwell flame --db db --by image -o x.html >/dev/null
size=$(stat -c %s x.html)
[ "$size" -gt 1000000 ] && [ "$size" -le 1500000 ] || echo "page of $size bytes"
"$CLI/flame_data.py" x.html total | sed 's/^[0-9]* boxes, //; s/least [1-9][0-9]*/least N/'
dwell flame --diff db db --by image -o d.html >/dev/null
[ "$(stat -c %s d.html)" -le 1500000 ] || echo "page of $(stat -c %s d.html) bytes"
"$CLI/flame_data.py" d.html total | sed 's/^[0-9]* boxes, //'
