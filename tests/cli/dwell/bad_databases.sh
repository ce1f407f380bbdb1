# Databases that are not as they should be, one line each; nothing that is stored is lost.
epoch_of db web 5 50
try() { echo "$ $*"; "$@" 2>&1; echo "= $?"; }
prof() { try dwell prof --by image --no-header "$@"; }

echo "dwell database 3" >newer_version
cp -r db newer && mv newer_version newer/VERSION
prof --db newer
try dwell gc --db newer
try dwell check --repair newer
try epoch_of newer web 6 1

cp -r db manifest && sed -i 's/"version": 2/"version": 9/' manifest/epochs/*/web/MANIFEST
prof --db manifest
try dwell check --repair manifest

chmod 777 db
try epoch_of db web 6 1
try dwell gc --db db
chmod 755 db
[ "$(id -u)" = 0 ] && chown 1000 db
try epoch_of db web 6 1
chown "$(id -u)" db

# A clock set back: later epochs are still later.
epoch_of db web 3 3
epoch_of db web 5 5
dwell epochs db --csv | cut -d, -f1,6
prof --db db

# A file system that is only read.
unshare -m sh -c 'mount --bind db db && mount -o remount,ro,bind db' 2>/dev/null || { echo "no mount namespaces"; exit 77; }
export CLI
read_only() {
	unshare -m sh -c 'mount --bind db db && mount -o remount,ro,bind db && . "$CLI/lib.sh" && "$@"' sh "$@"
}
try read_only dwell prof --by image --no-header --db db --epoch all
try read_only dwell gc --db db --max-age 1 --keep 1
try read_only dwell check --repair db
try read_only epoch_of db web 9 1
prof --db db --epoch all
