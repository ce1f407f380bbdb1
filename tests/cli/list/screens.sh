# Code on screens of 80, 120 and 200 columns: source, instructions, both, under perf's name, and what is hot.
make_usual_db
export DWELLDB=db
on_screens list hot prog
on_screens list --both --no-header hot prog
on_screens annotate --asm --no-header hot prog
on_screens list --hot --both --no-header hot prog
on_screens list --no-header --event cycles+imiss --both hot prog
on_screens top --no-header
