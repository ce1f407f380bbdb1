#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# libdwell-papi as it is installed:  papi_installed.sh BUILD PREFIX LIBDIR SOURCE_ROOT
# The example is compiled as it says, against the shared library and the static one; the headers stand alone; the
# library shows PAPI's names and no others; with libpapi-dev, a program that is linked with PAPI runs with ours.
set -eu
build=$1 prefix=$2 libdir=$3 root=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
	echo "# $1"
	exit 1
}
DESTDIR=$dir meson install -C "$build" --no-rebuild --quiet >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
lib=$dir$prefix/$libdir
export PKG_CONFIG_SYSROOT_DIR="$dir" PKG_CONFIG_PATH="$lib/pkgconfig"
cd "$dir"

# four threads, of which each has as much more to do as its number says
check_example() {
	cat out
	[ "$(grep -cE '^thread [0-3]: [0-9]+ counted, [1-9][0-9]* samples in work\(\), most in \+[0-9]+\.\.[0-9]+: [1-9]' out)" = 4 ] ||
		fail "$1: not four threads with samples"
	awk '/^thread 0/ {a = $5} /^thread 3/ {b = $5} END {exit !(b > 2 * a)}' out || fail "$1: thread 3 has not the most"
}
gcc -g -O1 -Wall -Wextra -Werror -fopenmp "$root/examples/papi_openmp.c" -o shared $(pkg-config --cflags --libs dwell-papi)
LD_LIBRARY_PATH=$lib ./shared >out || fail "shared: exit $?"
check_example shared
gcc -g -O1 -static -fopenmp "$root/examples/papi_openmp.c" -o static $(pkg-config --static --cflags --libs dwell-papi) \
	2>link.err || { cat link.err; exit 1; }
./static >out || fail "static: exit $?"
check_example static

# the archive shows the same names, and is linked beside libdwell's
nm -g --defined-only "$lib/libdwell-papi.a" | sed -n 's/^[0-9a-f]* [A-Z] //p' >shown
! grep -vE '^(PAPI_[a-z_]*|dwell_papi_profil_status|__wrap_set[a-z]*)$' shown || fail "libdwell-papi.a shows more than PAPI's names"
cat >both.c <<END
#include <papi.h>
#include <stdio.h>
#include <sys/profil.h>
int main(void)
{
	static unsigned n;
	struct prof p = {.pr_base = &n, .pr_size = sizeof(n), .pr_scale = 2};
	int r = PAPI_library_init(PAPI_VER_CURRENT);

	return r != PAPI_VER_CURRENT || sprofil(&p, 1, NULL, PROF_UINT) || sprofil(&p, 0, NULL, PROF_UINT);
}
END
gcc -O1 -static both.c -o both $(pkg-config --static --cflags --libs dwell-papi dwell) 2>link.err || { cat link.err; fail "both archives"; }
./both || fail "both archives: exit $?"
gcc -O1 -static both.c -o both $(pkg-config --static --cflags --libs dwell dwell-papi) 2>link.err || { cat link.err; fail "both archives, the other way round"; }
./both || fail "both archives, the other way round: exit $?"

for h in papi.h papiStdEventDefs.h dwell/papi.h; do
	echo "#include <$h>" | gcc -Wall -Wpedantic -Werror -std=c99 -fsyntax-only -x c $(pkg-config --cflags dwell-papi) -
	echo "#include <$h>" | gcc -Wall -Werror -std=c11 -fsyntax-only -x c $(pkg-config --cflags dwell-papi) -
	echo "#include <$h>" | g++ -Wall -Werror -std=c++11 -fsyntax-only -x c++ $(pkg-config --cflags dwell-papi) -
done
nm -D --defined-only "$lib/libdwell-papi.so.0" | awk '$2 != "A" {print $3}' >names
grep -q '^PAPI_profil@@DWELL_PAPI_0$' names || fail "no PAPI_profil of version DWELL_PAPI_0"
# and calls of the C library that change identity, for which its helper thread steps aside
! grep -vE '^(PAPI_[a-z_]*|dwell_papi_profil_status)@@DWELL_PAPI_0$|^(initgroups|set(groups|[er]?[ug]id|re[ug]id|res[ug]id))@@GLIBC_' names ||
	fail "the library shows more than PAPI's names"
# every function the header declares is there, and no other
grep -oE '\bPAPI_[a-z_]+\(' "$root/include/dwell/papi.h" | grep -v 'PAPI_descr_error' | tr -d '(' | sort -u >declared
sed 's/@.*//' names | grep ^PAPI_ | sort -u | diff declared - || fail "the header and the library differ"

gcc -g -O1 -w -fopenmp "$root/examples/papi_openmp.c" -o linked -lpapi 2>/dev/null || { echo "# no libpapi-dev"; exit 0; }
LD_PRELOAD=$lib/libdwell-papi.so.0 ./linked >out || fail "linked with PAPI: exit $?"
check_example "linked with PAPI"
