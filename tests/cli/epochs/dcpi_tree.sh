# epochs, check, tar, scan and gc take a DCPI tree.
make_prog
for hour in 0 1 2; do
	mkdb db$hour <<-DB
		meta vax $((1609459200 + hour * 3600)) 60 make
		event cycles 1000
		image file $PWD/prog
		sample $(sym hot) $((hour + 5))
		loss ring_full 2
	DB
	dwell export --dcpi --db db$hour -o tree >/dev/null
done
dwell epochs tree
dwell epochs --db tree -epoch 20210101010000.. --csv | cut -d, -f1-7
dwell check tree
echo x >tree/20210101010000/vax/bad
dwell check tree; echo "exit $?"
dwell check --repair tree; echo "exit $?"
dwell epochs --db tree -epoch 202101010100 -host vax | tail -n 1
rm tree/20210101010000/vax/bad
echo '- scan'
mkdir elsewhere; mv prog elsewhere
dwell prof --db tree -no_header prog
dwell scan --db tree --copy elsewhere | sed 's/^[0-9a-f]\{40\} */ID /; s/^build_id */build_id /'
dwell prof --db tree -no_header prog
rm -r elsewhere
echo '- tar'
dwell tar --db tree -epoch all -o bundle.tar
tar xf bundle.tar
rm prog.c
dwell prof --db bundle -no_header -epoch all prog
dwell prof --by image --db bundle -no_header -epoch all
echo '- gc'
dwell gc --db tree -max-age 1d -keep 2 -n
dwell gc --db tree -max-age 1d -keep 2
dwell gc --db tree -max-age 0 -max-size 1 -keep 1
ls tree
dwell prof --by image --db tree -no_header
