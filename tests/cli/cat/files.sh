golden=$CLI/../golden/dcpi
dwell cat $golden/v006.prof $golden/v007.prof
echo
dwell cat --stride 4 $golden/v007-alpha.prof
echo
ln -s "$BUILD/dwell" dcpicat
./dcpicat -csv $golden/v006.prof $golden/v007.prof
dwell cat $golden/bare.prof
