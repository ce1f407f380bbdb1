# pprof's format, as protoc decodes it and as pprof itself prints it.
pprof() {
	HOME=$PWD PPROF_TMPDIR=$PWD go tool pprof -symbolize=none "$@" 2>/dev/null
}
# Texts of a decoded file are numbers in its table of strings: puts them in.
texts() {
	sed -n 's/^string_table: "\(.*\)"$/\1/p' "$1" >strings
	awk 'BEGIN { while ((getline line < "strings") > 0) text[n++] = line }
		/^string_table/ { next }
		/ (type|unit|filename|name|system_name|build_id|key|str): / || /^(comment|default_sample_type): / {
			$2 = "\"" text[$2] "\"" }
		{ sub(/^ */, ""); printf "%s%s", line ? " " : "", $0; line = 1 }
		/{$/ { depth++ }
		/^}$/ { depth-- }
		!depth { print ""; line = 0 }' "$1"
}
make_paths_db
dwell export --pprof -o a.pb.gz db
gzip -dc a.pb.gz | protoc --decode=dwell.test.Profile -I "$CLI/../golden/pprof" profile.proto >a.txt
texts a.txt | sed 's/build_id: "[0-9a-f]*"/build_id: "ID"/; s/address: [0-9]* //'
echo "-- samples:"
pprof -sample_index=samples -top a.pb.gz | sed -n '/Showing/,$p'
pprof -sample_index=cycles -traces a.pb.gz | grep -A6 'comm: *make'
echo "-- of one image:"
dwell export --pprof -o b.pb.gz db prog --event cycles
pprof -sample_index=samples -top b.pb.gz | grep Showing
echo "-- refused:"
dwell export --pprof db
dwell export --pprof -o c.pb.gz db nothing
ls c.pb.gz
