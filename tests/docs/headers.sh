#!/bin/sh
# Compiles every header of src/ and include/ alone: a header includes what it uses.
#   headers.sh SOURCE_ROOT CC...
# A header that its own .c includes before anything else is compiled so by the build itself, and is left out here.
cd "$1" || exit 2
shift
status=0

# Whether the first preprocessor line of $1.c includes $1.h.
is_first() {
	[ -f "$1.c" ] && [ "$(grep -m 1 '^[[:space:]]*#' "$1.c")" = "#include \"${1#src/}.h\"" ]
}

for h in $(find src include -name '*.h' ! -path 'src/collect/bpf/*'); do
	is_first "${h%.h}" && continue
	echo "#include \"${h#*/}\"" | "$@" -std=gnu17 -D_GNU_SOURCE -Isrc -Iinclude -fsyntax-only -x c - || {
		echo "not self-contained: $h"
		status=1
	}
done
exit $status
