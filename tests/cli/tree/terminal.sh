# On screens of several widths: numbers, guides and names that fit.
command -v script >/dev/null || { echo "no script(1)"; exit 77; }
cat >deep.py <<'END'
# A tree that branches on each of 40 levels, below C++ names.
print("event cycles 1000\nimage file /usr/lib/deep.so")
for n in range(40):
    print(f"sample {4096 + n * 16 + 8:x} 20\nframe {4096 + n * 16:x}\nsample {8192 + n * 16:x} {40 + n}")
END
make_tree_db
export DWELLDB=db TERM=xterm DWELL_PAGER=
on_terminal() {
	type_into '' "stty rows 100 cols $1; $2" | tr -d '\r\b' | sed "s|$(printf '\033')|ESC|g"
}
on_terminal 80 "dwell tree --no-header --event cycles --callers"
NO_COLOR=1 on_terminal 40 "dwell tree --no-header --event cycles --by address"
NO_COLOR=1 on_terminal 160 "dwell tree --no-header"
python3 deep.py | make_db
NO_COLOR=1 on_terminal 80 "dwell tree --no-header --by address" | sed -n '20,32p'
NO_COLOR=1 on_terminal 160 "dwell tree --no-header --by address" | sed -n '60,64p'
NO_COLOR=1 on_terminal 80 "dwell tree --no-header --by address" | awk 'length($0) > 200' | wc -l
# Not on a screen: as wide as $COLUMNS says.
COLUMNS=80 dwell tree --no-header --by address --db db | sed -n '20,22p'
COLUMNS=80 dwell tree --no-header --by address --db db | awk 'length($0) > 200' | wc -l
