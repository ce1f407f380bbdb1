make_ibs_db
dwell prof --db db --json --error --pm dtbmiss+any:latency+icmiss::retired --by procedure
dwell prof --db db --csv --error --pm dtbmiss+any:latency+icmiss::retired --by procedure
dwell list --db db --csv --error --pm mispredict main a.out
