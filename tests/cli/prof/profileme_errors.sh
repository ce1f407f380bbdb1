make_pm_db
try() { "$@"; echo "exit $?"; }
try dwell prof --db db --pm retyred
try dwell prof --db db --pm 'retired^!retired'
try dwell prof --db db --pm 'any+dtbmiss^notrap'
try dwell prof --db db --pm 'retired:retdelay::'
try dwell prof --db db --pm retdelay
try dwell prof --db db --pm any:retdelai
try dwell prof --db db --pm 'any+(taken|nyp'
try dwell prof --db db --pm retired --event branches
try dwell prof --db db --pm retired --sort nyp
try dwell prof --db db --sp retired+nyp
try dwell prof --db db --sp default
try dwell prof --db db --pm
try dwell list --db db --pm main a.out
try dwell top --db db --pm '!'
make_usual_db
try dwell prof --db db --pm retired
