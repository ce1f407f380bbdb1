# Perfetto's traces, as protoc decodes them; without times there is none.
make_traces_db
dwell export --perfetto -o a.trace db
protoc --decode=dwell.test.Trace -I "$CLI/../golden/perfetto" trace.proto <a.trace >a.txt
grep -cE '^ *[0-9]+:' a.txt
sed -n '/interned_data/,/^}/p; /process_tree/,/^}/p' a.txt | grep -v 'rel_pc\|sequence' | tr -d '\n' |
	sed 's/  */ /g; s/build_ids { iid: \([0-9]*\) str: "[0-9a-f]*"/build_ids { iid: \1 str: "ID"/g; s/ \([a-z_]* {\)/\n\1/g'
echo
awk '/timestamp:|pid:|tid:|callstack_iid:/ { printf "%s ", $2 } /^}/ { print "" }' a.txt | grep -E '[0-9] [0-9]' | tail -8
rm -r db
make_paths_db
dwell export --perfetto -o b.trace db
ls b.trace
