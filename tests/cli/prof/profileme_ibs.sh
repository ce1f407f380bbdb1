make_ibs_db
show() { echo "\$ $*"; "$@"; echo; }
show dwell prof --db db --pm any a.out
show dwell prof --db db --pm retired+dtbmiss+mispredict+replays a.out
show dwell prof --db db --pm any:latency+dtbmiss:latency::dtbmiss+any:fetchlatency::any a.out
show dwell prof --db db --pm icmiss::retired a.out
show dwell prof --db db --event ibs_fetch --pm any+icmiss::any --by procedure
show dwell list --db db --asm --pm dtbmiss+mispredict+icmiss+dtbmiss::any main a.out
show dwell top --db db --pm 'dtbmiss|mispredicted' -n 3
