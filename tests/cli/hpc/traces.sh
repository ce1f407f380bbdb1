# Time lines.  Those whose owners are groups get threads of their own.
make_traces_db
dwell hpc --db db -o out
python3 "$CLI/../hpc/hpcdb.py" out values trace
dwell hpc --db db -o imiss --event imiss
python3 "$CLI/../hpc/hpcdb.py" imiss values trace
