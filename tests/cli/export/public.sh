# OTLP and Perfetto by their public definitions: DWELL_PROTOS is a directory with opentelemetry/ of
# opentelemetry-proto 1.11.0 and perfetto_trace.proto of google/perfetto; without it this is skipped.
[ -n "$DWELL_PROTOS" ] || { echo "DWELL_PROTOS is not set"; exit 77; }
unknown() { grep -cE '^ *[0-9]+:' "$1"; }
make_traces_db
dwell export --otlp -o a.otlp db >/dev/null
protoc --decode=opentelemetry.proto.profiles.v1development.ProfilesData -I "$DWELL_PROTOS" \
	opentelemetry/proto/profiles/v1development/profiles.proto <a.otlp >a.txt && unknown a.txt
grep -c '^ *profiles {' a.txt
dwell export --perfetto -o a.trace db >/dev/null
protoc --decode=perfetto.protos.Trace -I "$DWELL_PROTOS" perfetto_trace.proto <a.trace >b.txt && unknown b.txt
grep -c '^ *perf_sample {' b.txt
exit 0
