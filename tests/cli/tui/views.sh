# Each view over a database, by its keys, at 80x24.
make_tree_db
"$CLI/screen.py" 80x24 dwell tui --db db <<'END'
# The table of procedures; images; commands.
wait procedures by
show
type p
wait images by
show
type pp
wait procedures of commands
show
# The tree: closed, opened again, searched.
type t
wait tree by
show
type C
wait + _start
show
type \r
wait hlt
type \x1b
wait tree by
type E/cold\r
wait cold
show
# Callers of the row, and what it called.
type c
wait callers of
show
type c
wait callees of
show
type \x1b
wait tree by
# From procedures up.
type u
wait tree of callers
show
# Source lines, instructions, both.
type p
wait procedures by
type /hot\r\r
wait of all
show
type a
wait 401018
show
type a
wait int s = 0
show
# Sorting.
type \x1b
wait procedures by
type s
wait inclusive
show
# Help, and the end.
type ?
wait Moving
show
type q
end
END
