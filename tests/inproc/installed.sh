#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The libraries as they are installed:  installed.sh BUILD PREFIX LIBDIR SOURCE_ROOT
# The examples are compiled as their first lines say, against the installed headers and pkg-config files, with the
# shared library and the static one; what they write is read by gprof and by dwell.
set -eu
build=$1 prefix=$2 libdir=$3 root=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
DESTDIR=$dir meson install -C "$build" --no-rebuild --quiet >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
lib=$dir$prefix/$libdir
export PKG_CONFIG_SYSROOT_DIR="$dir" PKG_CONFIG_PATH="$lib/pkgconfig" LD_LIBRARY_PATH="$lib"
mkdir "$dir/work"
cd "$dir/work"

g++ -O1 -Wall -Wextra -Werror "$root/examples/hottest.cc" -o hottest $(pkg-config --cflags --libs dwell)
./hottest | tee hottest.out
grep -q '^hottest: work+[0-9]*\.\.[0-9]*, [1-9]' hottest.out

for how in shared static; do
	rm -rf profiles gmon.out
	if [ $how = shared ]; then
		gcc -g -O1 -Wall -Wextra -Werror "$root/examples/threads.c" -o threads $(pkg-config --cflags --libs dwell) -lpthread
	else
		gcc -g -O1 -static "$root/examples/threads.c" -o threads $(pkg-config --static --cflags --libs dwell) -lpthread \
			2>link.err || { cat link.err; exit 1; }
	fi
	./threads
	gprof -p -b threads gmon.out >flat
	"$build/dwell" prof --db profiles --by procedure --csv >prof
	for f in add divide; do
		grep -q " $f\$" flat || { echo "# gprof has no $f ($how)"; cat flat; exit 1; }
		grep -q "$f" prof || { echo "# dwell has no $f ($how)"; cat prof; exit 1; }
	done
done

# a static program sees the names of the interface and no others
names=$(nm -g --defined-only "$lib/libdwell.a" | sed -n 's/^[0-9a-f]* [A-Z] //p' | grep -vE '^(s?profil|dwell_[a-z_]*|__wrap_(pthread_create|setgroups|set[er]?[ug]id|setre[ug]id|setres[ug]id))$' || true)
[ -z "$names" ] || { echo "# libdwell.a shows $names"; exit 1; }

# the helper thread of a static library steps aside where a program changes its identity in one thread
cat >identity.c <<-'END'
	#include "identity_t.h"
	#include <sys/profil.h>
	#include <time.h>
	int main(void)
	{
		static unsigned counts[64];
		struct prof whole = {counts, sizeof(counts), (size_t)main, 65536};
		int r = geteuid() ? 0 : sprofil(&whole, 1, 0, PROF_UINT) ? 10 : 0;
		for (clock_t end = clock() + CLOCKS_PER_SEC / 20; clock() < end;)
			;
		return r || geteuid() ? r : change_identity();
	}
END
for how in -static ''; do
	gcc -O1 $how -D_GNU_SOURCE -I"$root/tests/inproc" identity.c -o identity $(pkg-config --static --cflags dwell) \
		$lib/libdwell.a $(pkg-config --static --libs-only-other dwell) -ldl -lpthread 2>link.err || { cat link.err; exit 1; }
	./identity || { echo "# identity.c ($how): exit $?"; exit 1; }
done

# each header stands alone, in C and C++, and preloading works from where it is installed
for h in dwell.h sys/profil.h dwell/dwell.h dwell/sys/profil.h; do
	echo "#include <$h>" | gcc -Wall -Wpedantic -Werror -std=c99 -fsyntax-only -x c $(pkg-config --cflags dwell) -
	echo "#include <$h>" | gcc -Wall -Werror -std=c11 -fsyntax-only -x c $(pkg-config --cflags dwell) -
	echo "#include <$h>" | g++ -Wall -Werror -std=c++11 -fsyntax-only -x c++ $(pkg-config --cflags dwell) -
done
LD_PRELOAD=libdwell-preload.so DWELL_PRELOAD_DIR=preloaded ./hottest
"$build/dwell" prof --db preloaded --by procedure --csv | grep -q 'work'

# built with clang it has the same names with the same versions
if command -v clang >/dev/null; then
	sources=$(sed -n "/^\(inproc\|identity\|preload\)_sources/,/)/p" "$root/src/inproc/meson.build" | grep -oE "'[a-z_./]+\.c'" | sed "s,',,g; s,^,$root/src/inproc/,")
	clang -shared -fPIC -fvisibility=hidden -D_GNU_SOURCE -std=gnu17 -Wall -Wextra -Wno-unused-parameter -Werror -I"$root/src" -I"$root/include" \
		-I"$root/include/dwell" -Wl,--version-script="$build/src/inproc/libdwell-preload.map" $sources -o clang.so
	names_of() {
		nm -D --defined-only "$1" | awk '{print $3}' | sort
	}
	names_of "$lib/libdwell-preload.so" >gcc.names
	names_of clang.so >clang.names
	diff gcc.names clang.names || { echo "# built with clang, these names differ"; exit 1; }
	LD_PRELOAD=$PWD/clang.so DWELL_PRELOAD_DIR=by_clang ./hottest
	"$build/dwell" prof --db by_clang --by procedure --csv | grep -q 'work'
fi
