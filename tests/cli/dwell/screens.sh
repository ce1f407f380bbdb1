# Help, findings and errors on narrow and wide screens.
command -v script >/dev/null || { echo "no script(1)"; exit 77; }
too_wide() {
	awk -v most="$1" -v what="$2" 'length($0) > most { print what " at " most ": too wide: " $0 }'
}
for columns in 80 120 200; do
	for command in $(dwell help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		COLUMNS=$columns dwell "$command" --help </dev/null | too_wide $columns "$command --help"
	done
	COLUMNS=$columns dwell help | too_wide $columns help
	COLUMNS=$columns dwell doctor | too_wide $columns doctor
	COLUMNS=$columns dwell doctor -p $$ | too_wide $columns "doctor -p"
done
COLUMNS=80 dwell daemon --help | head -n 8
# One line for programs; on a terminal it is folded.
COLUMNS=80 dwell script 2>&1
TERM=xterm type_into '' "stty rows 24 cols 80; dwell script" | tr -d '\r'
