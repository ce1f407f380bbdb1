# Columns computed from the others, in lines and instructions.
make_usual_db
dwell list hot prog --db db --asm --derive 'twice = 2 * cycles' --derive 'ratio = imiss / cycles' || true
dwell list hot prog --db db --asm --derive 'bad = nothing' || true
