# Names that would be markup, drive a terminal or turn text around; names of ten thousand characters.
long=$(printf '%10000s' '' | tr ' ' x)
{
	printf 'event cycles 1\nimage file /tmp/<script>alert(1)</script>"%s\n' "'&"
	printf 'owner - - comm=</script><script>alert(1)</script>\nsample 1000 3\n'
	printf 'owner - - comm=a"onload="alert(1)\nsample 1000 4\n'
	printf 'owner - - comm=\342\200\256gpj.exe\nsample 1000 5\n'
	printf 'owner - - comm=\033[2J\177\001\nsample 1000 6\n'
	printf 'owner - - comm=\377\376bad\355\240\200\nsample 1000 7\n'
	printf 'owner - - comm=\357\277\277]]>end\nsample 1000 8\n'
	printf 'image file /x\nowner - - comm=%s\nsample 1000 9\n' "$long"
} | make_db
dwell flame --db db --by comm -o x.html >/dev/null && "$CLI/flame_data.py" x.html | cut -c 1-200
grep -c 'alert(1)' x.html
dwell flame --db db --by comm -o x.svg --title '</title><script>alert(1)</script>' >/dev/null
python3 - <<'END'
import xml.etree.ElementTree as tree
root = tree.parse("x.svg").getroot()
print(sorted({e.tag.split("}")[1] for e in root.iter()}), sorted({a for e in root.iter() for a in e.attrib}))
for e in root.iter("{http://www.w3.org/2000/svg}title"):
    print(len(e.text) if len(e.text) > 200 else e.text)
END
dwell flame --db db -o t.html --title '</title><script>alert(1)</script>' >/dev/null
grep '<title>' t.html
