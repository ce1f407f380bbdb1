# Each line that a page of DCPI's shows or describes runs under the name it has there, or says what to type instead.
make_calc_db retired
export DCPIDB="$PWD/db"
for name in 2bb 2pix 2ps calc cat cc coverage ctl diff flow label ldlatency list prof scan source stats sumxct tar topcounts topstalls vcat version vlst whatcg x; do
	ln -s "$BUILD/dwell" dcpi$name
done
PATH=$PWD:$PATH
cp calc a.out
while read -r line; do
	echo "$ $line"
	$line >shown 2>said </dev/null
	echo "exit $?, $(($(wc -l <shown) > 0)) table, last: $(tail -n 1 shown | cut -c 1-90)"
	cat said
done <<-'X'
	dcpiprof
	dcpiprof -i calc
	dcpiprof -keep 90 calc
	dcpiprof -p a.out -m map calc
	dcpiprof -no_header -s cycles
	dcpiprof -csl
	dcpiprof -full_output
	dcpiprof -label green
	dcpiprof -event cycles -epoch latest
	dcpilist walk calc
	dcpilist -source walk calc
	dcpilist -asm -event cycles 0x401008 calc
	dcpilist -best -V walk calc
	dcpilist -both -p a.out walk calc
	dcpilist -order walk calc
	dcpilist -vprof walk calc
	dcpilist -vtrace module.so walk calc
	dcpicat calc
	dcpitopcounts -n 1
	dcpitopcounts -n 1 -st cycles calc
	dcpitopcounts -n 1 -s cycles -csl calc
	dcpitopcounts -n 1 -sp retired calc
	dcpitopstalls -mcpu skylake calc
	dcpitopstalls -n 1 -conf_med -cross_procedure selective -mcpu skylake calc
	dcpiwhatcg -mcpu skylake calc
	dcpiwhatcg -pr -conf_high -mcpu skylake calc
	dcpiwhatcg -stall Synchronization -mcpu skylake calc
	dcpiwhatcg -cross_procedure=optimistic -mcpu skylake calc
	dcpiwhatcg -stall Slotting calc
	dcpiwhatcg -version
	dcpicalc -mcpu skylake walk calc
	dcpicalc -print_opcode -cutoff 5 -conf_low -mcpu skylake walk calc
	dcpicalc -cross_procedure pessimistic -mcpu skylake -procedures walk -- calc
	dcpicalc -cross_procedure
	dcpicalc -tab calc.tab -xct calc.xct walk calc
	dcpistats -set -db db -set -db db
	dcpistats -i -event cycles -v -range 0 -keep 100 -set -db db -epoch latest -set db
	dcpistats -set -factor 2 -db db -set -db db
	dcpistats -set -db db -no_header -set -db db
	dcpistats -set -db db -set -db
	dcpidiff walk -set -db db calc -set -db db calc
	dcpidiff -source_line walk -set -db db calc -set -db db calc
	dcpidiff -compare cpi walk -set -db db -conf_low calc -set -db db -cross_procedure optimistic calc
	dcpi2bb -counts calc
	dcpi2bb -make_bbdb -pm all -load_lat -scale -trace flag calc
	dcpi2pix -conf_low -scale calc
	dcpicoverage -one_line -no_header calc
	dcpiflow walk calc
	dcpisource -src calc.s walk calc
	dcpisource -map calc.cmap walk calc
	dcpicc -map_dir maps -tok_dir toks -compiler gcc calc.c
	dcpi2ps walk calc
	dcpix -conservative calc
	dcpisumxct a.xct b.xct -o sum.xct
	dcpildlatency bins
	dcpivlst -vcutoff 1 -vconcise walk calc
	dcpivcat calc
	dcpiscan .
	dcpitar
	dcpictl register
	dcpictl epoch
	dcpilabel green true
	dcpiversion
X
