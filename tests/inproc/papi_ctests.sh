#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# PAPI's own tests of profiling and of overflows, unmodified, with our header and library:
#   papi_ctests.sh LIBRARY SOURCE_ROOT
# $DWELL_PAPI_SOURCE is the src folder of an unpacked PAPI 7 (apt-get source papi); skipped without.  A machine without
# hardware counters needs a file that says what presets are (docs/design/papi.md), or all tests that count
# instructions skip themselves.  Those that no program can pass are named below.
set -eu
library=$1 root=$2
[ -n "${DWELL_PAPI_SOURCE:-}" ] || { echo "1..0 # SKIP DWELL_PAPI_SOURCE is not set"; exit 0; }
src=$DWELL_PAPI_SOURCE
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# their headers, but for papi.h
cp "$src"/testlib/*.h "$src"/ctests/*.h "$src"/validation_tests/testcode.h .
cc="gcc -O1 -w -I. -I$root/include/dwell"
for object in testlib/test_utils testlib/do_loops testlib/clockcore ctests/prof_utils validation_tests/busy_work; do
	$cc -O0 -c "$src/$object.c" -o "${object##*/}.o"
done
cat >presets <<END
CPU,perf
PRESET,PAPI_TOT_CYC,NOT_DERIVED,perf::PERF_COUNT_SW_TASK_CLOCK
PRESET,PAPI_TOT_INS,NOT_DERIVED,perf::PERF_COUNT_SW_CPU_CLOCK
END
export PAPI_CSV_EVENT_FILE="$dir/presets"

# earprofile: of Itanium.  overflow_values: does not compile with PAPI either.
tests="profile profile_force_software sprofile profile_twoevents byte_profile profile_pthreads overflow overflow_index
overflow_one_and_read overflow2 overflow_pthreads overflow3_pthreads overflow_single_event overflow_twoevents
overflow_force_software overflow_allcounters child_overflow fork_overflow exec_overflow system_child_overflow
system_overflow krentel_pthreads"
n=0
for t in $tests; do
	n=$((n + 1))
	file=$t define=
	case $t in
	profile_force_software) file=profile define=-DSWPROFILE ;;
	exec_overflow) define=-DPEXEC ;;
	child_overflow) define=-DPCHILD ;;
	system_child_overflow) define=-DSYSTEM ;;
	system_overflow) define=-DSYSTEM2 ;;
	esac
	objects="test_utils.o do_loops.o clockcore.o busy_work.o"
	! grep -q 'prof_utils.h' "$src/ctests/$file.c" || objects="$objects prof_utils.o"
	if ! $cc $define "$src/ctests/$file.c" $objects -o "$t" "$library" -Wl,-rpath,"$(dirname "$library")" -lpthread -lm 2>err; then
		echo "not ok $n - $t: does not compile"
		sed 's/^/# /' err | head -5
	elif ! timeout 120 ./"$t" TESTS_QUIET >out 2>&1 || grep -aq FAILED out; then
		echo "not ok $n - $t"
		sed 's/^/# /' out | tail -8
	elif grep -aq SKIPPED out; then
		echo "ok $n - $t # SKIP it skips itself"
	else
		echo "ok $n - $t"
	fi
done
echo "1..$n"
