# Samples that were killed early count as their bits say, as the page has it; --no-early-kill leaves them out.
cat >cat.txt <<-'END'
	name                 a.out
	image                19970328081403c0c18b
	path                 /a.out
	epoch                199805191724
	platform             vax
	text_start           0x000000401000
	text_size            0x000000001000
	event                160 retired^!early_kill^notrap:m1count:65536:10000
	event                25 retired^early_kill^notrap:m1count:65536:10000
	event                180 !retired^!early_kill^dtbmiss^capped:m1count:65536:10000
	event                16 !retired^early_kill^replays^!capped:m1count:65536:10000
	0x000000401000     100       5      80       6
	0x000000401004      60      20     100      10
END
dwell prof --by image --db cat.txt -pm retired+trap
dwell prof --by image --db cat.txt -pm retired+trap --no-early-kill
# The page's own way to leave them out.
dwell prof --by image --db cat.txt -no_header -pm 'retired^/early_kill+trap^/early_kill'
# A bit that DCPI's page does not list; sets that contradict themselves are empty.
dwell prof --by image --db cat.txt -pm 'capped+twnzrd+dtbmiss^mispredict+retired^!retired+trap::notrap^trap'
dwell prof --by image --db cat.txt -no_header -pm '!(notrap^trap)' --json | grep -A4 '"counts"'
