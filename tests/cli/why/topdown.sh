# Where the pipeline's slots went, of recordings of the events that tell it: in all, and by procedure.
make_calc_db
start=$(sym _start)
events() {
	echo 'meta vax 880000000 60 calc'
	while read -r event walk first; do
		printf 'event %s 1000\nimage file %s/calc\nsample %s %s\nsample %s %s\n' "$event" "$PWD" "$(at 5)" "$walk" "$start" "$first"
	done
}
events <<END | mkdb intel
slots 1000 200
topdown-retiring 100 150
topdown-bad-spec 50 10
topdown-fe-bound 250 30
topdown-be-bound 600 10
END
dwell why --db intel
dwell why --db intel --json | jq -c '.no_topdown, .topdown[]'
events <<END | mkdb amd
ls_not_halted_cyc 100 50
ex_ret_ops 300 30
de_src_op_disp.all 330 30
de_no_dispatch_per_slot.no_ops_from_frontend 60 90
de_no_dispatch_per_slot.backend_stalls 150 150
de_no_dispatch_per_slot.smt_contention 60 30
END
dwell why --db amd --no-header
# Where some are missing it says which, and the causes are all there is.
events <<END | mkdb less
cycles 1000 200
slots 1000 200
topdown-retiring 100 150
END
dwell why --db less --counts counts --mcpu skylake --no-header | tail -n 2
dwell why --db intel --stall D || echo "exit $?"
