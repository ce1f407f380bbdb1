# Blocks by gcov's counts of source lines: one document, packed, several; what is refused.
make_calc_db
doc() { printf '{"current_working_directory": "%s", "files": [{"file": "%s", "functions": [{"name": "walk", "demangled_name": "walk", "execution_count": 10}], "lines": [%s]}]}\n' "$PWD" "$1" "$2"; }
line() { printf '{"line_number": %s, "function_name": "%s", "count": %s}' "$1" "${3:-walk}" "$2"; }
lines="$(line 9 1000), $(line 12 400), $(line 15 10)"
doc calc.s "$lines" >counts.json
dwell list --blocks walk --db db --counts counts.json --no-header | tee one
gzip -c counts.json >counts.json.gz
{ doc other.c "$(line 9 7)"; cat counts.json; } >two.json
for f in counts.json.gz two.json; do dwell list --blocks walk --db db --counts $f --no-header | cmp - one; done
dwell export --bb --db db --counts counts.json | tail -n +2
# A line of a template is of each function that was made of it.
doc calc.s "$lines, $(line 9 5 other)" >template.json
dwell list --blocks walk --db db --counts template.json --csv | cut -d, -f 1-7
doc other.s "$lines" >other.json
dwell list --blocks walk --db db --counts other.json --no-header
echo '{"files": 3}' >odd.json
dwell list --blocks walk --db db --counts odd.json
echo '{"files": [' >cut.json
dwell list --blocks walk --db db --counts cut.json
