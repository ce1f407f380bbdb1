# PHP and Perl of Debian 12.
[ -x /usr/bin/php8.2 ] || { echo "no php8.2"; exit 77; }
/usr/bin/perl -e 'exit($] =~ /^5.036/ ? 0 : 1)' || { echo "no perl 5.36"; exit 77; }
/usr/bin/php8.2 -r 'touch("ready"); sleep(60);' &
php=$!
while [ ! -e ready ]; do sleep 0.05; done
dwell doctor -p $php --csv
kill $php
/usr/bin/perl -e 'open(my $f, ">", "ready2"); sleep 60' &
perl=$!
while [ ! -e ready2 ]; do sleep 0.05; done
dwell doctor -p $perl --csv
kill $perl
