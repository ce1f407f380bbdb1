make_pm_db
dwell cat --db db a.out | sed "s/^image  .*[0-9a-f]\{40\}$/image ID/" >text
cat text
# What is printed reads back as itself, and says the same of sample sets.
dwell cat --db db >pm.txt
dwell cat pm.txt | cmp - pm.txt
for from in db pm.txt; do
	dwell prof --db $from --no-header --pm retired+trap+nyp:retdelay::nyp+any:inflight a.out >$from.prof
done
cmp db.prof pm.txt.prof
dwell cat --db pm.txt --pm retired+retired:retdelay::retired a.out
dwell cat --db pm.txt --csv --pm retired^/notrap a.out
mv db pm
make_ibs_db
dwell cat --db db | sed "s/^image  .*[0-9a-f]\{40\}$/image ID/"
dwell cat --db db >ibs.txt
dwell cat ibs.txt | cmp - ibs.txt
dwell cat --db db --csv --pm /dtbmiss+icmiss | sed "s/,[0-9a-f]\{40\}/,ID/"
dwell cat --pm any ibs.txt
