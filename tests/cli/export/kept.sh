# Header lines that mean nothing here outlive whoever rewrites the file: export, cat, and the same export again.
make_prog
make_db <<-DB
	meta vax 880000000 60 make
	event cycles 1000
	image file $PWD/prog
	sample $(sym hot) 5
DB
dwell export --dcpi --db db -o tree >/dev/null
file=$(ls tree/*/*/prog.*)
lines() { sed -n '/^samples/q; /^cpuspeed\|^cpuamask\|^cpuimplv\|^path\|^future/p' "$1" | sed "s|$PWD|DIR|"; }
add() {
	{ sed '/^samples/,$d' "$1"; cat; printf 'samples\n'; } | sed 's/^cpuspeed .*/cpuspeed  333/' >new
	tail -c +$(($(grep -abo '^samples *$' "$1" | cut -d: -f1) + $(grep -a '^samples *$' "$1" | wc -c) + 1)) "$1" >>new
	mv new "$1"
}
add "$file" <<-END2
	cpuamask  1f
	cpuimplv  2
	path      /old/prog
	future    of  many words 
END2
echo '- the file'; lines "$file"
dwell cat --write 0.06 -o v6 "$file"
echo '- another version'; lines "$file" >want; lines v6 | cmp - want
echo '- as text'; dwell cat "$file" | sed -n '1,/^event/p' | sed "s|$PWD|DIR|; s/^image .*/image ID/"
dwell cat "$file" >text && dwell cat --write 0.07 -o from-text text
echo '- from text'; lines from-text
echo '- another tree'; dwell export --dcpi --db tree -o again >/dev/null; lines again/*/*/prog.*
echo '- written again over it'; dwell export --dcpi --db db -o tree >/dev/null; lines "$file"
dwell prof --by image --db tree -no_header
