# Amounts for the same work: numbers, an event that counts it; and one recording twice.
make_diff_dbs
try() { echo "$ dwell diff $*"; dwell diff "$@"; echo "= $?"; }
try --per 1000,2000 old new
try --per 1000,2000 --all --no-header old new
# Two recordings in which a probe counted requests: 100, then 200.
work() {
	mkdb "$1" <<-END
		meta vax 880000000 60 make
		event cycles 1000
		image file $PWD/prog
		owner - - comm=$1
		sample $(sym hot) $2
		sample $(sym cold) $3
		event requests 1
		sample $(sym cold) $4
	END
}
work few 1000 50 100
work many 2000 700 200
try --per requests --no-header --all --event cycles few many
try --per 1000 old new
try --per 0,5 old new
try --per 1e3,x old new
try --per nothing old new
try --per 1000,2000 --csv old new | tr -d '\r'
dwell diff --per 1000,2000 --json old new | grep -A8 '"per"'
cp -r old copy
try --no-header old copy
try --no-header --comm make old new
