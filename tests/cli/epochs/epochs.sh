# The list of epochs.
for hour in 1 2; do epoch_of db web1 $hour 1$hour; done
epoch_of db web2 30 700
try() { echo "$ $*"; "$@"; echo "= $?"; }
try dwell epochs db
try dwell epochs --db db --since 2021-01-01T02 --until 20210102
try dwell epochs db --host 'web[2-9]' --json
try dwell epochs db --epoch latest --csv
try dwell epochs db --since 2027 2>&1
mkdir all
mv db all/one
epoch_of all/two web3 3 5
try dwell epochs all --epoch latest
try dwell epochs nowhere 2>&1
mkdir none
try dwell epochs none 2>&1
