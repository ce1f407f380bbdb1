# OTLP profiles, as protoc decodes them: a line for each message, the strings at the end.
lines() {
	awk '{ sub(/^ */, ""); printf "%s%s", line ? " " : "", $0; line = 1 }
		/{$/ { depth++ }
		/^}$/ { depth-- }
		depth <= 1 { print ""; line = 0 }'
}
make_paths_db
dwell export --otlp -o a.otlp.pb db
protoc --decode=dwell.test.ProfilesData -I "$CLI/../golden/otlp" profiles.proto <a.otlp.pb >a.txt
grep -cE '^ *[0-9]+:' a.txt
lines <a.txt | sed 's/address: [0-9]* //; s/samples {/\n  &/g; s/profile_id: "[^ ]*"/profile_id: .../
	s/string_value: "[0-9a-f]\{4,40\}"/string_value: "ID"/'
