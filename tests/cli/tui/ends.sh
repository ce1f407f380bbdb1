# Names that would drive the terminal, other sizes, a terminal without colours, and every end.
make_prog && printf '%s\n' "meta vax 880000000 60 make" "event cycles 1000" \
	"owner - - comm=$(printf '\033]0;owned\007\033[31mred\202') pid=7" "image file $PWD/prog" \
	"sample $(sym hot) 40" "image file /tmp/$(printf '\033[2J\033c').so" "sample 1234 9" | mkdb db
on() { SCREEN_TERM=$1 "$CLI/screen.py" "$2" dwell tui --db db; }
on xterm-256color 120x40 <<'END'
wait procedures by
show
type pp
wait commands by
show
resize 80x24
wait commands by
show
resize 200x10
wait commands by
show
type q
end
END
echo "Without colours:"
on vt100 80x24 <<'END'
wait procedures by
type t
wait tree by
type q
end
END
for how in TERM INT HUP SEGV; do
	echo "SIG$how:"
	on xterm 80x24 <<-END
		wait procedures by
		signal $how
		end
	END
done
echo "Typed:"
on xterm 80x24 <<'END'
wait procedures by
type /nothing is called so\r
wait is not there
type d
wait changes from
type \r
wait no samples were named
type d
wait changes from
type no such set\r
gone changes from
type d
wait changes from
type db=db\r
wait change%
show
type \x1bo
wait open (
type db=nowhere\r
wait nowhere
type odb=db\r
wait [Esc: back]
type t
wait tree by
type o
wait open (
type db=db comm=none\r
wait none
type \x1b\x1b
gone [Esc: back]
show
type q
end
END
# What the terminal shows.
alone() { type_into '' "dwell tui --db db" | tr -d '\r\b'; }
# ncurses (newterm, 6.4) does not free what it made for a terminal that it does not know.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 TERM=nonsense alone
TERM=dumb alone
