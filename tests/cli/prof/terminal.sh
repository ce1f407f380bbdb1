# On a terminal: cut to its width, coloured, and through a pager when it does not fit.
command -v script >/dev/null || { echo "no script(1)"; exit 77; }
make_usual_db
export DWELLDB=db TERM=xterm
on_terminal() {
	type_into '' "stty rows $1 cols $2; $3" | tr -d '\r\b' | sed "s|$(printf '\033')|ESC|g"
}
on_terminal 50 46 "dwell prof -no_header -event cycles --by procedure --path /"
NO_COLOR=1 on_terminal 50 60 "dwell prof --by image -no_header -event cycles"
TERM=dumb on_terminal 50 60 "dwell prof --by image -no_header -event imiss"
NO_COLOR=1 DWELL_PAGER="sed 's/^/paged: /'" on_terminal 4 60 "dwell prof --by image -no_header -event cycles"
NO_COLOR=1 DWELL_PAGER="sed 's/^/paged: /'" on_terminal 9 60 "dwell prof --by image -no_header -event imiss"
NO_COLOR=1 DWELL_PAGER= on_terminal 4 60 "dwell prof -no_header -event cycles prog" | head -n 1
NO_COLOR=1 DWELL_PAGER="head -n 1" on_terminal 4 60 "dwell prof --by image -no_header -event cycles; echo exit \$?"
NO_COLOR=1 DWELL_PAGER="sed 's/^/paged: /'" on_terminal 4 60 "dwell prof --by image -no_header -event cycles --no-pager" | head -n 1
