# What perf stat record counted: the last count of each CPU and thread, scaled; what it means beside the others.
mkperf >amd <<END
cpu AuthenticAMD-25-97-2
counter ls_not_halted_cyc 1
counter ex_ret_ops 2
counter de_src_op_disp.all 3
counter de_no_dispatch_per_slot.no_ops_from_frontend 4
counter de_no_dispatch_per_slot.backend_stalls 5
counter de_no_dispatch_per_slot.smt_contention 6
count 1 0 0 20000000000 1000 1000
count 1 0 0 22058193291 2000 1000
count 2 0 0 214351198437 1000 1000
count 3 0 0 200000000000 1000 1000
count 3 1 0 19730483625 1000 1000
count 4 0 0 5543991665 1000 1000
count 5 0 0 39403115284 1000 1000
count 6 0 0 0 1000 1000
final 2000000000
END
dwell stat -i amd
dwell stat -i amd --json | jq -c '.topdown, .elapsed_s, .rows[0]'
mkperf >slots <<END
counter slots:u 1
counter topdown-retiring:u 2
counter topdown-bad-spec:u 3
counter topdown-fe-bound:u 4
counter topdown-be-bound:u 5
counter topdown-be-bound:k 6
count 1 0 0 71229087 1000 1000
count 2 0 0 8336760 1000 1000
count 3 0 0 5066320 1000 1000
count 4 0 0 22769750 1000 1000
count 5 0 0 35080387 1000 1000
count 6 0 0 0 1000 0
final 1000000000
END
dwell stat -i slots
# One of them missing: which.
mkperf >less <<END
counter slots 1
counter topdown-retiring 2
count 1 0 0 71229087 1000 1000
count 2 0 0 8336760 1000 1000
END
dwell stat -i less
try() { "$@"; echo "exit $?"; }
mkperf >samples <<END
event 1000
comm 1 1 x
sample 1 1 2 u 1000
END
try dwell stat -i samples
try dwell stat -i nosuch
try dwell stat -i amd -- true
head -c 600 amd >cut
try dwell stat -i cut
# Names of a stranger's events drive no terminal.
printf 'counter a\033[31m 1\ncounter b\033]0;title\007 2\ncount 1 0 0 5 1000 1000\nfinal 2000000000\n' | mkperf >escapes
dwell stat -i escapes
