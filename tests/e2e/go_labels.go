// SPDX-License-Identifier: BSD-2-Clause

// Goroutines with labels, each with a function of its own, so that every sample tells whose it must be.
//
//	go_labels PROFILE SECONDS
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"strconv"
	"sync"
	"time"
)

//go:noinline
func w_spin(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ s
	}
	return s
}

//go:noinline
func w_none(n int) int { return w_spin(n) + 1 }

//go:noinline
func w_alpha(n int) int { return w_spin(n) + 2 }

//go:noinline
func w_beta(n int) int { return w_spin(n) + 3 }

//go:noinline
func w_many(n int) int { return w_spin(n) + 4 }

//go:noinline
func w_inner(n int) int { return w_spin(n) + 5 }

// Makes garbage, so that the runtime works for it on the thread's own stack.
//
//go:noinline
func w_garbage(n int) int {
	m := map[int][]byte{}
	for i := 0; i < n/500; i++ {
		m[i%7] = make([]byte, 5000)
	}
	return len(m) + w_spin(n)
}

func w_until(until time.Time, f func(int) int) {
	for time.Now().Before(until) {
		f(40000)
	}
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	pprof.StartCPUProfile(file)
	until := time.Now().Add(time.Duration(seconds * 1e9))
	many := []string{}
	for i := 0; i < 7; i++ {
		many = append(many, "key"+strconv.Itoa(i), strconv.Itoa(i*i))
	}
	var wg sync.WaitGroup
	run := func(labels []string, f func(int) int) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if labels == nil {
				w_until(until, f)
				return
			}
			pprof.Do(context.Background(), pprof.Labels(labels...), func(ctx context.Context) {
				for time.Now().Before(until) {
					f(40000)
					pprof.Do(ctx, pprof.Labels("job", "inner"), func(context.Context) { w_inner(20000) })
				}
			})
		}()
	}
	run(nil, w_none)
	run([]string{"job", "alpha"}, w_alpha)
	run([]string{"zone", "z 1", "job", "beta"}, w_beta)
	run(many, w_many)
	run([]string{"job", "garbage"}, w_garbage)
	wg.Wait()
	pprof.StopCPUProfile()
	file.Close()
}
