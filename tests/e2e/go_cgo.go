// SPDX-License-Identifier: BSD-2-Clause

// Go that calls C that calls Go that calls C.  Who calls whom, of the program's own functions:
/* EDGES
w_go w_c_middle w_c_middle w_c_leaf w_c_middle w_back w_back w_go_inner w_go_inner w_c_leaf w_back w_garbage w_go w_c_leaf
w_go w_back
END */
// The last pair is as Go's own tracebacks have it: the stack of a goroutine does not show C that called back.
package main

/*
extern int w_back(int n);

__attribute__((noinline)) static int w_c_leaf(int n)
{
	volatile int s = 0;

	for (int i = 0; i < n; i++)
		s += i ^ s;
	return s;
}

__attribute__((noinline)) static int w_c_middle(int n)
{
	return w_back(n) + w_c_leaf(10);
}
*/
import "C"

import (
	"os"
	"strconv"
	"time"
)

//go:noinline
func w_go_inner(n C.int) C.int { return C.w_c_leaf(n) + 1 }

//go:noinline
func w_garbage(n int) int {
	m := map[int][]byte{}
	for i := 0; i < n/500; i++ {
		m[i%7] = make([]byte, 5000)
	}
	return len(m)
}

//export w_back
func w_back(n C.int) C.int { return w_go_inner(n) + C.int(w_garbage(int(n))) }

//go:noinline
func w_go(n C.int) C.int { return C.w_c_middle(n) + C.w_c_leaf(n) }

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	until := time.Now().Add(time.Duration(seconds * 1e9))
	done := make(chan int)
	for i := 0; i < 2; i++ {
		go func() {
			for time.Now().Before(until) {
				w_go(50000)
			}
			done <- 1
		}()
	}
	<-done
	<-done
}
