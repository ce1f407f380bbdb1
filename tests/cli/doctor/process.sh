# What a process's interpreter is, and one without.
[ -x /usr/bin/python3.11 ] || { echo "no python3.11"; exit 77; }
/usr/bin/python3.11 -c 'open("ready", "w"); import time; time.sleep(60)' &
python=$!
while [ ! -e ready ]; do sleep 0.05; done
dwell doctor -p $python --csv
kill $python
sleep 60 &
dwell doctor -p $! | sed 's/process [0-9]*/process N/'
kill $!
dwell doctor -p 0
