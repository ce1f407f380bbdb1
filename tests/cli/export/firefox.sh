# A processed profile of the Firefox Profiler, without and with time lines.
paths() {
	jq -c '.shared as $s | [$s.stackTable.frame, $s.stackTable.prefixOffset] as $t
		| def path($i): (if $t[1][$i] == 0 then [] else path($i - $t[1][$i]) end) +
			[$s.stringArray[$s.funcTable.name[$s.frameTable.func[$t[0][$i]]]]];
		.threads[] | . as $th | range($th.samples.length) | [$th.name, $th.pid, $th.tid,
			$th.samples.timeDeltas[.], (if $th.samples.weight then $th.samples.weight[.] else 1 end),
			(path($th.samples.stack[.]) | join(";"))]' "$1"
}
make_paths_db
dwell export --firefox -o a.json db
paths a.json
jq -c '.meta | [.preprocessedProfileVersion, .version, .interval, .symbolicated, [.categories[].name]]' a.json
jq -c '.shared | to_entries[] | select(.value | type == "object") | .key as $k | .value |
	.length as $n | [$k, ([.[] | select(type == "array") | length == $n] | all)]' a.json
jq -c '.libs[] | [.name, .path, (.codeId | length), (.breakpadId | length)]' a.json
rm -r db
make_traces_db
dwell export --firefox -o b.json db
paths b.json
jq -c '.meta.startTime, (.threads[] | [.name, .isMainThread, .registerTime, .unregisterTime, .samples.weightType])' b.json
echo "-- blocks are markers:"
rm -r db
make_db <<-END
	meta vax 880000000 1 make
	event cycles 1000
	image file $PWD/prog
	owner - - comm=worker exe=$PWD/prog
	sample $(sym hot) 3
	thread 11 11 1000 0
	point 2000 $(sym hot)
	time blocked
	sample $(sym cold) 3000000
	point 3000 $(sym cold)
	event cycles 1000
	point 4000 $(sym hot)
	time runnable
	image mark [waiting]
	sample 0 1000000
	point 5000 0
	event cycles 1000
	image file $PWD/prog
	point 6000 $(sym hot)
	time blocked
	point 7000 $(sym cold)
END
dwell export --firefox -o c.json db
jq -c '.shared.stringArray as $s | .threads[].markers | [[.name[] | $s[.]], .startTime, .endTime, .phase]' c.json
