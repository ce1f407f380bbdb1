command -v zsh >/dev/null || { echo skipped: no zsh; exit 77; }
dwell help --completion zsh >_dwell && zsh -n _dwell && echo "zsh reads it"
# zsh completes only at a terminal: _arguments and its like say here what they were given.
zsh -f -c '
_arguments() { print -rl -- ${(M)@:#*(--engine=|--by=|command:)*}; }
_describe() { eval "print -rl -- \${(M)$2:#re*}"; }
words=(dwell record "") CURRENT=3; source ./_dwell
words=(dwell prof "") CURRENT=3; source ./_dwell
words=(dwell "") CURRENT=2; source ./_dwell
'
