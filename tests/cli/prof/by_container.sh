# Rows by what runtimes said of containers, and where they said nothing.
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde
make_prog && make_db <<-END
	meta vax 880000000 60 server
	event cycles 1000
	image file $PWD/prog
	container ${id}1 name=web image=nginx:1.27 pod=front-5d9f7 namespace=shop version=7 tenant=acme
	container ${id}2 name=web image=nginx:1.28 pod=front-77c4b namespace=shop version=8 tenant=acme
	container ${id}3 name=db image=pg:16 pod=pg-0 namespace=shop
	owner - - comm=nginx cgroup=/kubepods/pod1/${id}1
	sample $(sym hot) 10
	owner - - comm=nginx cgroup=/kubepods/pod2/${id}2
	sample $(sym hot) 20
	sample $(sym cold) 5
	owner - - comm=postgres cgroup=/kubepods/pod3/${id}3
	sample $(sym cold) 4
	owner - - comm=other cgroup=/docker/${id}4
	sample $(sym cold) 3
	owner - - comm=sshd cgroup=/system.slice/ssh.service
	sample $(sym cold) 2
	owner kernel - comm=kworker/0:1
	sample $(sym cold) 1
END
export DWELLDB=db
try() { echo "$ $*"; "$@" 2>&1; }
for key in container pod namespace image-tag version tenant; do
	try dwell prof -no_header --by $key
done
try dwell prof -no_header --by namespace,pod,container
try dwell tree -no_header --by namespace,container,procedure --flat
try dwell diff --by procedure version=7 version=8
try dwell diff --by procedure version=7 version=9
dwell export --pprof -o p.gz >/dev/null && gzip -dc p.gz | grep -aoE 'image-tag|nginx:1.2[78]|namespace|tenant|acme' | LC_ALL=C sort -u
dwell check db
:
