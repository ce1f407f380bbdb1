# A program of the Go that is installed, with a table of symbols and without one.
command -v go >/dev/null || { echo "no go"; exit 77; }
case $(go version) in *go1.19.*) ;; *) echo "go is not 1.19"; exit 77 ;; esac
cat >wait.go <<'END'
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"time"
)

func main() {
	pprof.SetGoroutineLabels(context.Background())
	os.WriteFile(os.Args[1], nil, 0600)
	time.Sleep(60 * time.Second)
}
END
sed '/pprof/d; /"context"/d' wait.go >plain.go
export HOME=$PWD GO111MODULE=off CGO_ENABLED=0
go build -o wait wait.go
go build -ldflags '-s -w' -o plain plain.go
for program in wait plain; do
	./$program ready.$program &
	while [ ! -e ready.$program ]; do sleep 0.05; done
	dwell doctor -p $! --csv
	kill $!
done
