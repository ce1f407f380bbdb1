# dcpid is installed as a link to dwelld; a link to dwell does the same.
ln -s "$BUILD/dwell" dcpid
./dcpid -version | sed 's/[0-9][0-9.]*/N/'
./dcpid -help | head -n 1
./dcpid -no_such_option DIR
