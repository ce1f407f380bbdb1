make_pm_paths_db
dwell tree --db db --pm dtbmiss+any:inflight::any
dwell tree --db db --callers --pm dtbmiss
dwell tree --db db --json --pm retired --error | head -60
dwell prof --db db --pm dtbmiss+retired:inflight --by procedure
dwell prof --db db --callers work --pm dtbmiss::retired
