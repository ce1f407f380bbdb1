# A file that a process maps twice: data has the distance of the nearest code. A line that holds nothing but a byte at an odd address has its name.
samples() {
	cat <<-END
		mmap 10 7e0000001000 1000 1000 $PWD/a.out $(readelf -n a.out | awk '/Build ID/ { print $3 }')
		mmap 10 7e0000004000 1000 4000 $PWD/a.out $(readelf -n a.out | awk '/Build ID/ { print $3 }')
		mmap 10 7e0000005000 2000 0 //anon
		access 10 10 1 401000 404008 load,l1 4
		access 10 10 2 401000 7e0000004008 load,l1 4
		access 10 11 3 401000 7e0000005008 store,l1 4
		access 10 10 4 401000 404117 load,l1 4
		round
	END
}
make_memory_data samples
dwell mem perf.data --by object --no-header
dwell mem perf.data --by line --all --no-header --csv | cut -d, -f 1,3,11-
