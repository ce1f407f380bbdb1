# Differences on screens of 80, 120 and 200 columns, and times: of recordings with off-CPU time they are seconds.
waiting() {
	mkdb "$1" <<-END
		meta vax 880000000 60 server
		event cpu-clock 1000000
		owner - - comm=server exe=/usr/bin/server
		image file /opt/server/bin/server
		sample 1000 30
		time running
		path
		image mark [running]
		sample 0 4000000
		time runnable
		image mark [waiting for a CPU]
		sample 0 $2
		time blocked
		image file /usr/lib/x86_64-linux-gnu/some/where/deep/below/libnot-there-any-more.so.6.0.32
		sample 1234 $3
		image kernel [kernel]
		sample ffffffff81000000 7000000
	END
}
waiting old 1000000000 5000000000
waiting new 3000000000 125000000000
on_screens diff --event wall --all old new
on_screens diff --event wall --by address --all --no-header old new
dwell diff --event wall --per 1,2 --all --no-header old new
dwell diff --event wall --csv --all old new | tr -d '\r'
on_screens stats --event wall old new
on_screens stats --by image --no-header old new
dwell stats --event wall --csv old new | tr -d '\r'
