# A tree of DCPI profiles and one of its files read as the database they were written from.
make_usual_db
dwell export --db db --dcpi -o tree >/dev/null 2>&1
dwell prof --db db -event cycles >from_db
dwell prof --db tree -event cycles | diff from_db - && echo same
dwell prof --db tree -no_header -event cycles prog
dwell prof --db "$(ls tree/*/*/prog.imiss.*)" -no_header
dwell list --db tree -no_header -event cycles -asm hot prog | head -n 2
dwell prof --db tree -epoch 1980
mkdir none && touch none/file
dwell prof --db none
