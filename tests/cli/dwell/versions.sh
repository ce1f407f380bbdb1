# Every program says its version in every way that people ask for it.
for how in --version -V -version; do
	dwell $how
	dwelld $how
done | sort -u | sed 's/[0-9].*/N/'
dwell version | sed 's/[0-9].*/N/'
dwell prof -V | sed 's/[0-9].*/N/'
