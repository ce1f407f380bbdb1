make_pm_db
dwell prof --db db --error --pm retired+retired:retdelay+retired:retdelay::retired+mispredict::retired a.out
dwell prof --by image --db db --error --event cycles --pm nyp -s nyp
dwell top --db db --error --pm any:inflight::any -n 4
dwell list --db db --error --asm --pm retired main a.out
