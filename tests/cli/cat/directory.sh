# A directory as the first operand is the database; measurements of hpcrun are named as what they are.
make_usual_db
dwell cat --db db prog >named
dwell cat db prog | diff named - && echo same
dwell hpc --db db -o out >/dev/null
for part in meta profile cct; do dwell cat out/$part.db; done >parts
dwell cat out | diff parts - && echo same
mkdir measured
echo HPCRUN >measured/prog-000000-000-7f000001-1-0.hpcrun
dwell cat measured
echo "= $?"
dwell prof --db measured/prog-000000-000-7f000001-1-0.hpcrun
echo "= $?"
dwell hpc measured -o none
echo "= $?"
for command in 'prof measured' 'tree measured' 'list measured hot' 'check measured' 'cat measured/prog-000000-000-7f000001-1-0.hpcrun'; do
	dwell $command
	echo "= $?"
done
