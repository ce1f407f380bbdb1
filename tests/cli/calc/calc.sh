# Cycles per instruction of a loop, its best case, and what stalled it: of time alone, and with what the hardware told.
make_calc_db
dwell calc walk --db db --counts counts --mcpu skylake
ls .cache/dwell/models | grep -c .
dwell calc walk --db db --counts counts --mcpu skylake --no-header --cutoff 20 | head -n 3
ls .cache/dwell/models | grep -c .
# A damaged model is made again.
for f in .cache/dwell/models/*; do printf x >"$f"; done
dwell calc walk --db db --counts counts --mcpu skylake --csv | head -n 3
dwell calc walk --db db --counts counts --mcpu skylake --json | jq -c '{unit,model,executions_are_of,best_cpi,cpi,blocks:.blocks[1]}'
rm -r db
make_calc_db facts
dwell calc walk --db db --counts counts --mcpu skylake --event cycles --no-header
ln -s "$BUILD/dwell" dcpicalc
./dcpicalc -db db -event cycles -counts counts -mcpu skylake -no_header -cutoff 50 walk "$PWD/calc" | head -n 2
./dcpicalc -db db -event cycles -counts counts -mcpu skylake -no_header -cutoff 50 -conf_low -procedures walk -- "$PWD/calc" | head -n 3
# One that was not counted does not end the call, and is said in its place; all of them do.
./dcpicalc -db db -event cycles -counts counts -mcpu skylake -no_header -cutoff 50 -procedures _start walk nosuch -- "$PWD/calc" | head -n 5
dwell calc --procedures walk,nosuch --db db --event cycles --counts counts --mcpu skylake >two || echo "exit $?"
dwell calc --procedures nosuch,none --db db --event cycles --counts counts --mcpu skylake || echo "exit $?"
./dcpicalc -db db -counts counts -procedures walk || echo "exit $?"
./dcpicalc -tab calc.tab -xct calc.xct walk calc || echo "exit $?"
# The graph as a page: its data are what --json says.
dwell calc walk --db db --event cycles --counts counts --mcpu skylake -o walk.html | sed 's/[0-9]* bytes/N bytes/'
dwell calc walk --db db --event cycles --counts counts --mcpu skylake --json >walk.json
python3 - <<-'END'
	import base64, json, re, zlib
	page = open("walk.html").read()
	calc, more = json.loads(zlib.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', page)[1])))
	print("the same" if calc == json.load(open("walk.json")) else "another", "cycles" in more["account"])
	print([(e["from"], e["to"], e["executions"]) for e in calc["edges"]])
END
dwell calc walk --db db --counts counts -o walk.svg || echo "exit $?"
dwell calc --procedures walk,walk --db db --counts counts -o walk.html || echo "exit $?"
