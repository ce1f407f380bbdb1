# speedscope's JSON: whole; and that its sums are the recording's.
make_paths_db
dwell export --speedscope -o a.json db
jq -c '.["$schema"], .name, .exporter, .activeProfileIndex, .shared.frames[], .profiles[]' a.json
jq -c '[.profiles[] | (.weights | add) == .endValue and (.weights | length) == (.samples | length)] | all' a.json
dwell export --speedscope -o - db | cmp - a.json && echo same on standard output
