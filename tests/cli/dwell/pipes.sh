# An operand that is a pipe is not opened to see what it is: that would wait for who writes into it.
mkfifo pipe
for command in prof tree top flame check; do
	timeout 20 dwell $command pipe </dev/null
	echo "$command: $?"
done
