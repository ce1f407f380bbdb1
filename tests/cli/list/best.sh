make_usual_db
dwell list --db db -no_header -event cycles hot prog | head -n 2
mv prog.c moved.c
dwell list --db db -no_header -event cycles hot prog | head -n 2
dwell list --db db -no_header -event cycles -source hot prog | head -n 2
mkdir elsewhere && mv moved.c elsewhere/prog.c
dwell list --db db -no_header -event cycles -source-map "$PWD=$PWD/elsewhere" hot prog | head -n 2
