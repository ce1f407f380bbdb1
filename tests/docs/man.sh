#!/bin/sh
# Every command has a man page that scdoc accepts, with the sections in their order, the synopsis that
# --help prints (the first of several forms), and every option --help lists (common ones may be in dwell.1).
#   man.sh DWELL MAN_DIRECTORY
dwell=$1 man=$2 bad=0
fail() {
	echo "# $*"
	bad=1
}
sections='NAME SYNOPSIS DESCRIPTION OPTIONS OUTPUT EXAMPLES EXIT STATUS SEE ALSO'

for page in "$man"/*.1.scd; do
	scdoc <"$page" >/dev/null 2>&1 || fail "$page: scdoc refuses it"
	found=$(sed -n 's/^# //p' "$page" | grep -Fxv -e ENVIRONMENT -e FILES | tr '\n' ' ')
	[ "$found" = "$sections " ] || fail "$page: sections are $found"
done

# The markup's stars and underlines go, and what is escaped with a backslash stays.
plain() {
	sed -e 's/\\\([_*<>.]\)/\1/g' -e 's/\*//g' -e 's/_\([][A-Za-z.=,:+|-]*\)_/\1/g'
}

for c in $($dwell help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	case $c in help | version) continue ;; esac
	page=$man/dwell-$c.1.scd
	[ -f "$page" ] || { fail "dwell $c has no man page"; continue; }
	usage=$($dwell "$c" --help | sed -n '1s/usage: //p')
	sed -n '/^# SYNOPSIS/,/^# DESC/p' "$page" | sed 's/++$//' | plain | grep -Fq -- "${usage%% | *}" ||
		fail "$page: the synopsis is not '$usage'"
	for o in $($dwell "$c" --help | sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr -d ','); do
		cat "$page" "$man/dwell.1.scd" | plain | grep -Fq -- "$o" || fail "$page: nothing on $o"
	done
done
exit $bad
