# A database whose sums of squares are sums, as `hpcprof -M stats` writes them: deviations come from the threads' values.
make_db <<END
meta vax 880000000 60 make
event cycles 7
image file /usr/lib/gone.so
owner - - comm=a pid=20 tid=20
sample 1010 3
sample 2020 1
owner - - comm=a pid=20 tid=21
sample 1010 5
owner - - comm=a pid=20 tid=22
sample 1010 10
sample 2020 1
event cpu-clock 1000000
owner - - comm=a pid=20 tid=20
sample 1010 4
owner - - comm=a pid=20 tid=21
sample 1010 1
END
dwell hpc --db db -o h --no-sources >/dev/null
show() {
	for stat in stddev cfvar; do
		dwell prof h --all-metrics --stat sum,mean,$stat
		dwell tree h --all-metrics --stat sum,mean,$stat --percent-limit 0
	done
}
# patch small: all values are 64 times smaller; patch wrong: sums of squares become sums.
patch() {
	python3 - "$CLI/../hpc" $1 <<'END'
import struct, sys
sys.path.insert(0, sys.argv[1])
import hpcdb
small = 2.0 ** -6
stats = hpcdb.Database("h").stats
sums = {(m, scope): i for i, (m, scope, formula, combine) in stats.items() if (formula, combine) == ("$$", "sum")}
p, c = (bytearray(open("h/%s.db" % name, "rb").read()) for name in ("profile", "cct"))
def scale(b, at, power):
    struct.pack_into("<d", b, at, struct.unpack_from("<d", b, at)[0] * small ** power)
at, n, size = struct.unpack_from("<QIB", p, struct.unpack_from("<Q", p, 0x18)[0])
for profile in range(n):
    n_values, values, n_ctxs, indices = struct.unpack_from("<QQI4xQ", p, at + profile * size)
    starts = [struct.unpack_from("<Q", p, indices + 12 * k + 4)[0] for k in range(n_ctxs)] + [n_values]
    for first, end in zip(starts, starts[1:]):
        mine = {struct.unpack_from("<H", p, values + 10 * i)[0]: values + 10 * i + 2 for i in range(first, end)}
        for i, where in mine.items():
            formula = "$$" if profile else stats[i][2]
            if sys.argv[2] == "small":
                scale(p, where, {"1": 0, "$$": 1, "($$^2)": 2}[formula])
            elif formula == "($$^2)":
                p[where:where + 8] = p[mine[sums[stats[i][:2]]]:][:8]
at, n, size = struct.unpack_from("<QIB", c, struct.unpack_from("<Q", c, 0x18)[0])
for ctx in range(n):
    n_values, values = struct.unpack_from("<QQ", c, at + ctx * size)
    for i in range(n_values if sys.argv[2] == "small" else 0):
        scale(c, values + 12 * i + 4, 1)
open("h/profile.db", "wb").write(p)
open("h/cct.db", "wb").write(c)
END
}
cp -r h large
show >right
patch wrong
show >wrong
cat right
diff right wrong
# Values whose mean is below 1 and whose sum is not: the sum could be that of squares.
rm -r h && mv large h
patch small
python3 "$CLI/../hpc/hpcdb.py" h
show >right
patch wrong
show | diff right -
