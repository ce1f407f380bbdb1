make_usual_db
dwell export --dcpi --db db -o tree -event imiss prog
find tree -type f | sed 's/[0-9a-f]\{16\}$/HASH/'
file=$(find tree -type f)
strings -n 4 $file | sed 's/[0-9a-f]\{40\}/ID/; s|/.*/|DIR/|; s/\(dwell-text\).*/\1/'
dwell export --dcpi --db db -o alpha --stride 4 -event imiss -label green

# A count for each Alpha instruction.
mkdb db4 <<-END
	meta vax 880000000 60 make
	event cycles 1000
	image file /bin/alpha
	sample 120001000 7
	sample 120001004 8
	sample 120001010 9
END
dwell export --dcpi --db db4 -o alpha4 --stride 4
dwell cat --db alpha4
od -A n -t x1 alpha4/*/*/* | tail -3
