# Whose profiles there are and what they are called: processes and threads, ranks, groups; chosen ones; two events of
# which one did not count all the time; several inputs.
show() { python3 "$CLI/../hpc/hpcdb.py" "$@" | sed 's/^ *all: /  all: /' | grep -v '^  .*instruction\|^  .*function\|^  .*line\|^  .*loop'; }
make_owners_db
dwell hpc --db db -o owners
show owners values
dwell hpc --db db -o green --label green --no-sources
show green values
mv db one
make_prog && make_db <<END
meta pdp 880000000 60 make
event cycles 1000
image file $PWD/prog
owner - rank=3 comm=a pid=20 tid=20
sample $(sym hot) 1
owner - rank=3 comm=a pid=20 tid=21
sample $(sym hot) 2
owner - - comm=b cgroup=/slurm/job_7/step_0/user/task_1 pid=30 tid=30
sample $(sym hot) 4
owner - frank comm=c
sample $(sym hot) 8
owner - rank=4,core=1 comm=d pid=40 tid=40
sample $(sym hot) 16
END
dwell hpc -o both one db --title 'Two of them'
show both values text | grep -v '^  .*[0-9]$'
make_usual_db
dwell hpc --db db --epoch latest -o usual
show usual values
