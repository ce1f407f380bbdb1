# What nobody records on purpose: recursion of 4,000 frames, in lines longer than most files; nothing at all.
python3 - <<-'END'
	with open("deep.folded", "w") as f:
	    f.write("main;" + ";".join(["recurse"] * 4000) + " 5\n")
	    f.write("main;" + ";".join("r%d" % i for i in range(4000)) + " 5\n")
	    f.write("main;" + ";".join(["even", "odd"] * 2000) + ";leaf 7\n")
	with open("long.folded", "w") as f:
	    f.write("main;" + ";".join(["recurse"] * 20000) + " 5\n")
END
: >empty.folded
for file in deep.folded long.folded; do
	dwell prof $file --no-header -n 3
	COLUMNS=80 dwell tree $file --no-header --depth 3
	dwell flame --db $file -o x.html | sed 's/,.*//'
	dwell flame --db $file -o x.svg | sed 's/,.*//'
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("x.svg")' && echo "a whole picture"
done
for command in prof tree top flame trace list; do
	dwell $command --db empty.folded
done
dwell import empty.folded --db db
