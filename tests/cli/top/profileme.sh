make_pm_db
dwell top --db db --pm retired:retdelay::retired+retired -n 4
dwell top --db db --sp trap --pm default -n 3
dwell top --db db --csv --pm '/notrap+retired^nyp' -n 2
