# A page and a picture of the same paths: what is in the page is what the folded stacks are.
make_tree_db
export DWELLDB=db
decode() { "$CLI/flame_data.py" "$@"; }
dwell flame --by comm >/dev/null
decode flame.html
echo "folded: $(dwell export --folded | awk '{ n += $NF } END { print n }')"
echo '$ --callers'
dwell flame --callers -o callers.html >/dev/null && decode callers.html
echo '$ --focus'
dwell flame --focus cold -o - >focus.html && decode focus.html
echo '$ --percent-limit 20'
dwell flame --percent-limit 20 -o limit.html >/dev/null && decode limit.html
echo '$ another event'
dwell flame --sort imiss -o imiss.html >/dev/null && decode imiss.html | tail -n 1
echo '$ SVG'
dwell flame -o x.svg --title 'A & B <c>'
cat x.svg
