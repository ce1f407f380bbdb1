# Two sets laid over each other: what is new, gone, grown, shrunk, and what may be chance.
describe() { # HOT COLD GONE NEW CHANCE
	printf 'event cycles 1000\nowner - - comm=x\nimage file %s/prog\nframe 401000\n' "$PWD"
	printf 'sample %s %d\nsample %s %d\n' "$(sym hot)" "$1" "$(sym cold)" "$2"
	printf 'path\n'
	[ "$3" = 0 ] || printf 'image file /usr/lib/gone.so\nsample 10 %d\n' "$3"
	[ "$4" = 0 ] || printf 'image file /usr/lib/new.so\nsample 10 %d\n' "$4"
	printf 'image file /usr/lib/chance.so\nsample 10 %d\n' "$5"
}
make_prog
describe 300 500 200 0 10 | mkdb a
describe 800 600 0 300 14 | mkdb b
dwell flame --diff a b -o d.html
"$CLI/flame_data.py" d.html
dwell flame --diff a b -o d.svg >/dev/null
sed -n 's/.*<title>\(.*\)<\/title>.*fill="\([^"]*\)".*/\2 \1/p' d.svg
echo '$ the same twice'
dwell flame --diff a a -o same.html >/dev/null
"$CLI/flame_data.py" same.html
echo '$ errors'
dwell flame --diff a
dwell flame --diff a nothing
echo 'event cycles 1000' | mkdb empty
dwell flame --diff a empty
