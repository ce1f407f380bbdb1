# JSON and CSV.
make_tree_db
export DWELLDB=db
dwell tree --json --percent-limit 5
dwell tree --csv --callers --by comm,line --percent-limit 0 --event imiss
dwell tree --csv --by address --percent-limit 50
