# Completions in the shells themselves.  In bash: what the words so far may go on with.
dwell help --completion bash >dwell.bash && bash -n dwell.bash && echo "bash reads it"
cat >try.bash <<'END'
source dwell.bash
compopt() { echo "files"; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_dwell
[ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}"
END
complete() { echo "--- $*:"; bash try.bash "$@"; }
complete dwell ex
complete dwell re
complete dwell prof --ev
complete dwell report --no-h
complete dwell record --engine ''
complete dwell record --engine = b
complete dwell record --event cpu-cl
complete dwell prof --db ''
complete dwell prof --comm ''
complete dwell diff --by = ''
complete dwell prof --by comm,im
# Values of --by are those that the command takes.
for command in prof tree mem diff stats; do
	values=$(bash try.bash dwell $command --by '')
	echo "$command:" $values
	for by in $values; do
		dwell $command --db none --by "$by" a b 2>&1 | grep -e '--by'
	done
done
complete dwell nonsense x
# No command of the overview is missing, and each option of a help is there.
dwell help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | while read -r name; do
	bash try.bash dwell "$name" | grep -qx "$name" || echo "$name is missing"
done
bash try.bash dwell tree -- | tr ' ' '\n' | grep -c '^--[a-z]' >n
[ "$(cat n)" = "$(dwell tree --help | sed -n '/^options/,$p' | cut -c1-29 | grep -o -- '--[a-z-]*' | wc -l)" ] && echo "all of tree's options"
dwell help --completion tcsh
echo $?
