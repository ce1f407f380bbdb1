# A recursion 4,000 deep, and names without number: bounded, and no sample is lost.
{
	printf 'event cycles 1\nimage file /tmp/x\nowner - - comm=x\n'
	awk 'BEGIN { for (i = 0; i < 4000; i++) printf "frame %x\n", 4096 + 16 * (i % 7) }'
	echo sample 1000 3
} | make_db
dwell flame --db db --by address -o deep.html >/dev/null && "$CLI/flame_data.py" deep.html total
dwell flame --db db --by address -o deep.svg >/dev/null && python3 - <<'END'
import xml.etree.ElementTree as tree
root = tree.parse("deep.svg").getroot()
print(root.get("width"), root.get("height"), len(root.findall("{http://www.w3.org/2000/svg}g")))
print([e.text for e in root.findall("{http://www.w3.org/2000/svg}text") if e.text and "deeper" in e.text])
END
rm -r db
awk 'BEGIN {
	print "event cycles 1"
	print "owner - - comm=x"
	for (i = 0; i < 20000; i++) {
		printf "image file /%0600d\nsample 1000 %d\n", i, 1 + i % 5
	}
}' | make_db
dwell flame --db db --by image -o many.html >/dev/null && "$CLI/flame_data.py" many.html total
[ "$(stat -c %s many.html)" -lt 1500000 ] || echo "page of $(stat -c %s many.html) bytes"
dwell flame --db db --by image -o many.svg >/dev/null && grep -c '<rect' many.svg
