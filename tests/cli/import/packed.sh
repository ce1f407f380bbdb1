# Texts that gzip packed, as Firefox Profiler and others keep them: the same samples as unpacked ones.
printf 'main;hot 40\nmain;cold 2\n' >a.folded
printf 'work 7/8 1.500000: 4 cycles: \n\t401035 hot+0x5 (/bin/work)\n\t401007 main+0x7 (/bin/work)\n\nwork 7/8 1.600000: 4 cycles: \n\t401007 main+0x7 (/bin/work)\n\n' >b.txt
printf '# callgrind format\nevents: Ir\nfl=a.c\nfn=main\n3 5\nfn=hot\n9 6\n' >c.out
for f in a.folded b.txt c.out; do
	mkdir -p packed
	gzip -n -c $f >packed/$f
	dwell prof --no-header $f 2>/dev/null | tee plain.out
	dwell prof --no-header --db packed/$f 2>/dev/null | cmp - plain.out
done
head -c 40 packed/b.txt >cut.gz
dwell prof --db cut.gz
# UTF-16 of more bytes than are decoded: nearly all of it is a hole.
printf '\377\376' >huge.folded
truncate -s 2G huge.folded
dwell prof --db huge.folded
# 16 MiB of zeros: a bomb is refused at its beginning.
head -c 16777216 /dev/zero | gzip -n >bomb.gz
dwell prof --db bomb.gz
dwell import --db none bomb.gz
ls none
# No profile at all.
printf 'one\ntwo\n' | gzip -n >d.gz
dwell prof --db d.gz
