# Names that want to harm: inert, bounded, and every column where it should be.
long=$(printf 'x%.0s' $(seq 10000))
printf '.globl _start\n.type _start, @function\n_start: nop\nret\n.size _start, .-_start\n.type %s, @function\n%s: nop\nret\n.size %s, .-%s\n' \
	"$long" "$long" "$long" "$long" >long.s
gcc -c long.s && ld -Ttext=0x401000 --build-id -o long long.o
{
	echo 'event cycles 1000'
	printf 'image file %s\nsample 401002 20\n' "$PWD/long"
	n=10
	for name in '<script>alert(1)</script>' 'עברית' "$(printf 'a\342\200\256evil')" "$(printf '\033]0;title\007\033[2J')" \
		"$long" '漢字の名前漢字の名前漢字の名前漢字の名前漢字の名前' "$(printf 'z\314\201\314\202\314\203\314\204')" \
		"$(printf 'zero\342\200\213width')" "$(printf 'bad\377\300utf8')" '=cmd|calc'; do
		echo "owner - - comm=c$n"
		echo "image file /lib/$(printf %.900s "$name")"
		echo "sample 1000 $n"
		n=$((n + 1))
	done
} | make_db
# The widths of lines as Python's unicodedata has them.
cat >widths.py <<-'END'
	import sys, unicodedata
	most = int(sys.argv[1])
	for line in sys.stdin.buffer.read().decode("utf-8").split("\n"):
	    width = sum(0 if unicodedata.category(c) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
	    bad = [hex(ord(c)) for c in line if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
	    if width > most or bad:
	        print("line of", width, bad)
END
for columns in 80 120 200; do
	echo "--- $columns"
	COLUMNS=$columns dwell prof --db db --no-header --by comm,image | tee seen
	python3 widths.py $columns <seen
	for c in "prof --by image" tree "tree --callers --by image" top "prof --by line"; do
		COLUMNS=$columns dwell $c --db db >seen 2>&1
		python3 widths.py $columns <seen
	done
done
COLUMNS=80 dwell prof --db db --no-header -n 1 | sed 's/ *[^ ]*long$//'
dwell prof --db db --no-header -n 1 | awk 'length($0) > 10000 { print "whole" }'
COLUMNS=80 dwell prof --db db --no-header --by image | wc -l
