#!/bin/sh
# Compiles every header of src/ and include/ alone: a header includes what it uses.
#   headers.sh SOURCE_ROOT CC...
cd "$1" || exit 2
shift
status=0
for h in $(find src include -name '*.h' ! -path 'src/collect/bpf/*'); do
	echo "#include \"${h#*/}\"" | "$@" -std=gnu17 -D_GNU_SOURCE -Isrc -Iinclude -fsyntax-only -x c - || {
		echo "not self-contained: $h"
		status=1
	}
done
exit $status
