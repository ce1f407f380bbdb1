# The account, the options that change what is kept, and the records as text.
make_perf_data
dwell import --json --db db perf.data
dwell import --db threads --by tid --label red --trace perf.data
dwell prof --db threads --no-header --by comm,tid,label
dwell trace --db threads --no-header
dwell import --dump --db none perf.data
ls
