# The command lines of dcpiprofileme(1) without its program, on recordings of real formats.
dir=${DWELL_FIXTURES:-}/perfdata
[ -f "$dir/synthetic/ibs_op_raw.perf.data" ] || { echo "no recordings here"; exit 77; }
for file in synthetic/ibs_op_raw synthetic/ibs_fetch_raw synthetic/arm_spe; do
	for columns in '-sp retired:inflight -pm retired+trap^!dtbmiss' '-pm default+any:inflight::retired' \
		'-pm mispredict::retired' '-sp !notrap -pm !notrap' '-pm nyp+any:fetchlatency::any' '-pm any'; do
		echo "$file $columns"
		dwell prof --db "$dir/$file.perf.data" -no_header --by image $columns
	done
done
