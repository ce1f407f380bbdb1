# Files that tools write and that their formats' pages hardly mention, and those that are refused with what to do.
try() { echo "$ dwell prof --db $1"; dwell prof --no-header --by ${2:-procedure} --db "$1" 2>&1 | cut -d' ' -f1-; }
# Tabs, hexadecimal costs, blocks, and jumps that tell names (--dump-bb, --collect-jumps).
cat >jumps.out <<EOF
# callgrind format
positions: instr bb line
events: Ir Dr
fl=(1) a.c
fn=(1) main
0x400 0x400 10 5 1
+4 * +1 0x10	2
jfi=(2) b.h
jfn=(2) next
jcnd=3/4 +8 * +2
* * *
fi=(2)
+4 +8 -1 7
cfn=(2)
calls=1 0x500 0x500 1
* * * 100 50
fl=(2)
fn=(2)
	0x500	0x500	1	100	50
EOF
try jumps.out
# Two parts with their events in another order; then one with an event more.
cat >parts.out <<EOF
version: 1
events: Ir Dr
fn=main
1 10 1
part: 2
events: Dr Ir
fn=main
1 2 20
EOF
dwell prof --csv --event Ir+Dr --db parts.out
printf 'events: Ir\nfn=f\n1 1\nevents: Dr\n1 1\n' >more.out
try more.out
# Xdebug's memory can become less; costs are no positions; and there are as many as events.
printf 'events: Time Memory\nfn=php::f\n1 10 -300\n2 20 5\n' >xdebug.out
try xdebug.out
printf 'events: Ir\nfn=f\n1 10\n* *\n' >relative.out
try relative.out
printf 'events: Ir\nfn=f\n1 10 20\n' >many.out
try many.out
# An object and a function by numbers that no line tells: unknown, and said.
printf 'events: Ir\nob=(8)\nfn=(1) f\n1 10\nfn=(2)\n1 5\n' >untold.out
try untold.out
# What PowerShell writes.
printf 'main;hot;\303\251t\303\251 3\nmain;read 2\n' >plain.folded
iconv -f UTF-8 -t UTF-16LE plain.folded | (printf '\377\376'; cat) >little.folded
iconv -f UTF-8 -t UTF-16BE plain.folded | (printf '\376\377'; cat) >big.folded
(printf '\357\273\277'; cat plain.folded) >marked.folded
for f in plain little big marked; do dwell export --folded --db $f.folded; done
# A profile of V8 as it was before 2016: the nodes are in each other, and samples have times.
cat >old.cpuprofile <<EOF
{"head":{"functionName":"(root)","url":"","lineNumber":0,"id":1,"hitCount":0,"children":[
{"functionName":"main","url":"a.js","lineNumber":7,"id":2,"hitCount":1,"children":[
{"functionName":"","url":"a.js","lineNumber":9,"id":3,"hitCount":2,"children":[]}]}]},
"startTime":1.5,"endTime":1.6,"samples":[2,3,3,1],"timestamps":[1500000,1501000,1503000,1504000]}
EOF
dwell tree --csv --db old.cpuprofile | cut -d, -f1-9
# Events of speedscope that are no calls.
events() {
	printf '{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"},{"name":"b"}]},'
	printf '"profiles":[{"type":"evented","name":"p","unit":"none","startValue":0,"endValue":9,"events":['
	comma=
	for e; do
		printf '%s{"type":"%s","frame":%s,"at":%s}' "$comma" $(echo $e | tr : ' ')
		comma=,
	done
	printf ']}]}'
}
events O:0:0 O:1:1 C:1:4 C:0:5 >good.json
try good.json
events O:0:0 O:1:1 C:0:4 C:1:5 >crossed.json
try crossed.json
events O:0:2 C:0:1 >back.json
try back.json
events O:0:0 >open.json
try open.json
# What Firefox and Chrome write themselves.
echo '{"meta":{"version":13},"libs":[],"threads":[{"stackTable":{},"frameTable":{}}]}' >gecko.json
try gecko.json
echo '{"traceEvents":[{"args":{"data":{"nodes":[{"callFrame":{}}],"startTime":1}}}]}' >trace.json
try trace.json
# Counts that 64 bits do not hold, in sum or alone: nothing is imported.
printf 'a;b 18446744073709551615\na;c 1\n' >sum.folded
printf 'a;b 184467440737095516150\n' >one.folded
for f in sum one; do dwell import --db none $f.folded 2>&1; done
[ -e none ] || echo nothing is there
