#!/bin/sh
# What `meson install` puts where:  install.sh BUILD PREFIX BIN_DIRECTORY MAN_DIRECTORY
# The program runs from there, under DCPI's names too, and every page of the manual can be read.
set -u
build=$1 prefix=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bin=$dir$prefix/$3 man=$dir$prefix/$4/man1
bad=0
fail() {
	echo "# $*"
	bad=1
}

DESTDIR=$dir meson install -C "$build" --no-rebuild --quiet >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
"$bin/dwell" --version | grep -q '^dwell [0-9]' || fail "$bin/dwell does not run"
[ -e "$man/dwell.1" ] || fail "no dwell.1"
for c in $("$bin/dwell" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	[ -s "$man/dwell-$c.1" ] || fail "no dwell-$c.1"
done
for c in prof list cat topcounts diff stats scan tar; do
	"$bin/dcpi$c" --help | grep -q "^usage: dcpi$c " || fail "dcpi$c does not run"
	grep -q '^\.TH "dwell-' "$man/dcpi$c.1" || fail "no dcpi$c.1"
done
[ -s "$dir$prefix/share/doc/dwell/formats/dcpi.md" ] || fail "no documents"
find "$dir$prefix" -name 'test_*' -o -name 'fuzz_*' -o -name 'bench_*' | grep . && fail "tests are installed"
exit $bad
