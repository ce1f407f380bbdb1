# Many epochs of two hosts, and databases side by side.
for hour in 1 2 3 4 5; do epoch_of db web1 $hour 1$hour; done
epoch_of db web2 26 700
epoch_of db web1 27 1000
try() { echo "$ $*"; "$@"; echo "= $?"; }
prof() { try dwell prof --by image --no-header "$@" 2>&1; }
export DWELLDB=db
prof
prof --since 2021-01-02
prof --since '2021-01-01 04:30' --until 20210101050000
prof --until 2021-01-01T02
prof --since 2021-01-01T03:30:00Z --host 'web1'
try dwell diff --by image --no-header --since 2021-01-01T03:30:00Z epoch=latest epoch=latest 2>&1
prof --epoch 2021010102..20210101030000,latest
prof --epoch 2101010300
prof --host 'web*' --epoch latest
dwell prof --by image --since 2021 | head -4
prof --since 2027-01-01
prof --since 5s --host web9
prof --since soon
prof --until 2021-13-01
for hour in 6 7; do epoch_of db web1 $hour 1; done
prof --epoch 1999
mkdir all
mv db all/one
epoch_of all/two web3 30 2000
epoch_of all/three web4 31 4000
mkdir all/other
try dwell prof --by image --db all 2>&1
prof --db all --since 2021-01-02 --host 'web[24]'
prof --db all --host web9
prof --db all --epoch 1999
