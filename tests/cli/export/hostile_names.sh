# Names that would end a line or drive a terminal: in files of lines they do neither.
python3 - <<'END'
import json
names = ["hot\nforged 7/7 1 x: \n\t1 of (root)\n\nfn=(9) other", "esc\x1b]0;title\x07", "c1\u009b31m", "del\x7f", "cr\r\n", "\u00e9t\u00e9"]
frames = [{"name": n} for n in names]
profile = {"type": "sampled", "name": "p\n\x1b", "unit": "none", "startValue": 0, "endValue": 6,
           "samples": [[0, i] for i in range(6)], "weights": [1] * 6}
json.dump({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": frames}, "profiles": [profile]},
          open("names.json", "w"))
END
for form in folded callgrind perf-script; do
	echo "-- $form:"
	dwell export --$form -o out names.json >/dev/null
	python3 -c 'import re; print(re.findall("[\0-\x08\x0b-\x1f\x7f-\x9f]", open("out", newline="", encoding="utf-8").read()))'
	grep -c '^forged\|^fn=(9) other' out
done
dwell export --folded names.json
