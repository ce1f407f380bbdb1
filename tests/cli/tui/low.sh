# A head that is higher than the screen leaves room for rows.
make_tree_db
"$CLI/screen.py" 40x10 dwell tui --db db <<'END'
wait procedures by
type t
wait tree by
type E/cold\r
wait cold
type c
wait callers of
show
type G
show
type q
end
END
"$CLI/screen.py" 20x4 dwell tui --db db <<'END'
wait procedures
show
type q
end
END
