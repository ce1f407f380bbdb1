make_db <<END
event cycles 1
image file /tmp/$(printf "\033")[2Jx
sample 10 3
END
dwell list --db db 0x10 "$(printf "\033")[2Jx" | tail -n 2
