# The page of a listing: what it carries, of which nothing is markup, and what it refuses.
make_usual_db
dwell list --db db hot prog -o page.html | sed 's/, [0-9]* bytes/, N bytes/'
python3 "$CLI/list/page_data.py" page.html
dwell list --db db hot prog -o - | cmp - page.html && echo "the same on stdout"
dwell list --db db hot prog -o page.svg
echo "= $?"
# Without code and source there are addresses.
dwell list --db db 0x1234 gone.so -o page.html >/dev/null
python3 "$CLI/list/page_data.py" page.html | tail -n 3
# A hostile name stays data.
sed -i '14s,$, /* </script><script>alert(1)</script> */,' prog.c
dwell list --db db hot prog -o page.html >/dev/null
grep -c '<script>alert' page.html
python3 "$CLI/list/page_data.py" page.html | grep alert
