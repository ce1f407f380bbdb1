# Ruby of Debian 12.
ruby -e 'exit(RUBY_VERSION.start_with?("3.1.") ? 0 : 1)' 2>ruby.txt || { echo "no ruby 3.1"; exit 77; }
ruby -e 'File.write("ready", ""); sleep 60' &
ruby=$!
while [ ! -e ready ]; do sleep 0.05; done
dwell doctor -p $ruby --csv
kill $ruby
