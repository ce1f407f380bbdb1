# A "lost" that is a link, or a file, is not followed, and nothing is removed that could not be set aside.
epoch_of db web 1 10
dir=db/epochs/20210101010000/web
mkdir elsewhere
ln -s "$PWD/elsewhere" "$dir/lost"
echo nonsense >"$dir/000099.seg"
dwell check --repair db
echo "= $?"
cat "$dir/000099.seg"
ls elsewhere
rm "$dir/lost"
dwell check --repair db
echo "= $?"
cat "$dir"/lost/000099.seg
dwell check db
