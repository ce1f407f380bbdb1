# Two builds of one program are two images, told apart by their build-ids.
make_db <<-END
	event cycles 1000
	image file:0123456789abcdef /usr/bin/twin
	sample 10 5
	image file:fedcba9876543210 /usr/bin/twin
	sample 10 3
END
dwell prof --by image --db db -no_header
dwell prof --db db -no_header --by image 012345
dwell prof --db db -no_header --by image twin
# A name as tables show it means that one of them.
dwell prof --db db -no_header --by image '/usr/bin/twin (fedcba98)'
dwell prof --db db -no_header --by image 'twin (01234567)'
