command -v fish >/dev/null || { echo skipped: no fish; exit 77; }
dwell help --completion fish >dwell.fish && fish --no-config -n dwell.fish && echo "fish reads it"
export HOME=$PWD
complete() { echo "--- $1"; fish --no-config -c 'source dwell.fish; complete -C $argv[1]' "$1" | grep -v '^try\|^dwell.fish' | head -n 12; }
complete 'dwell re'
complete 'dwell record --engine '
complete 'dwell report --no-h'
complete 'dwell record -e cpu-cl'
complete 'dwell diff --by '
complete 'dwell prof --by comm,ima'
