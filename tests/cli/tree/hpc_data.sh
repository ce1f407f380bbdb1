# JSON and CSV of an HPCToolkit database.
mkhpc db released
dwell tree --json --depth 4 db --event CPUTIME --percent-limit 10
dwell tree --csv --by loop --db db --percent-limit 0
