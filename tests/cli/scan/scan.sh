# Images found by build-id, wherever they are now.
make_usual_db
rm -rf db/images
mkdir -p away/deep away/other
mv prog away/deep/renamed
cp away/deep/renamed again
strip -o away/other/stripped again
echo text >away/text
ln -s deep/renamed away/link
try() { echo "$ $*"; "$@" 2>&1; echo "= $?"; }
try dwell prof --db db --no-header --event cycles prog
try dwell scan --db db away/other/stripped-not-here
try dwell scan --db db away/deep
try dwell prof --db db --no-header --event cycles prog
try dwell scan --db db away
try dwell scan --db db --copy --json away/deep
ln -s away/deep linked
try dwell scan --db db --all linked
rm -rf away again
dwell list --db db --no-header --event cycles --asm hot prog | head -3
try dwell scan --db db
