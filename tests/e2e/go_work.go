// SPDX-License-Identifier: BSD-2-Clause
// What tests/e2e/go.py records: functions that call each other in the ways that Go has.  Their names begin with w_ and
// are in EDGES, the call graph; go_graph.py reads them here.  Functions that the compiler may inline have names with
// w_in_, and stand in EDGES for who calls them, too.
/* EDGES
w_main w_sort w_main w_recurse w_main w_virtual w_main w_closure w_main w_raise w_main w_grow w_main w_allocate
w_main w_inlines w_main w_spin w_main w_defer w_main w_clock w_main w_fault w_fault w_faulting w_faulting func1
w_sort func1 func1 w_spin w_recurse w_recurse w_recurse w_spin w_virtual w_called w_called w_spin
w_closure func1 w_raise w_raising w_raise func1 w_raising w_raising w_raising func1 w_raising w_spin func1 w_kept w_kept w_spin
func1 w_grow w_grow w_grow w_grow w_spin w_inlines w_in_outer w_in_outer w_in_inner w_in_inner w_spin w_inlines w_in_inner
w_inlines w_spin w_in_outer w_spin w_defer w_deferred w_deferred w_spin
w_shares w_third w_shares w_two_thirds w_third w_spin w_two_thirds w_spin
END */
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"
)

var sink int

//go:noinline
func w_spin(n int) int {
	x := 1
	for i := 0; i < n; i++ {
		x = x*1103515245 + i
	}
	return x
}

//go:noinline
func w_sort() {
	v := make([]int, 40)
	for i := range v {
		v[i] = len(v) - i*7%40
	}
	sort.Slice(v, func(a, b int) bool {
		sink = w_spin(200)
		return v[a] < v[b]
	})
}

//go:noinline
func w_recurse(n int) int {
	if n > 0 {
		return w_recurse(n-1) + 1
	}
	return w_spin(5000)
}

type thing interface{ w_called(n int) int }
type one struct{ n int }
type two struct{ n, m int }

//go:noinline
func (o *one) w_called(n int) int { return w_spin(n) + o.n }

//go:noinline
func (t *two) w_called(n int) int { return w_spin(n+1) + t.m }

var things = []thing{&one{1}, &two{1, 2}}

//go:noinline
func w_virtual() {
	for i := 0; i < 40; i++ {
		sink = things[i%2].w_called(200)
	}
}

//go:noinline
func w_kept(n int) int { return w_spin(n) }

//go:noinline
func w_closure() {
	more := sink & 1
	f := func(n int) int { return w_kept(n+more) + more }
	for i := 0; i < 20; i++ {
		sink = f(200)
	}
}

//go:noinline
func w_raising(n int) {
	if n == 0 {
		sink = w_spin(300)
		panic("no")
	}
	w_raising(n - 1)
	sink++
}

//go:noinline
func w_raise() {
	defer func() {
		if recover() != nil {
			sink = w_kept(500)
		}
	}()
	w_raising(10)
}

var nowhere *int

// Its first instruction is the one that faults, where arguments are in registers.
//
//go:noinline
func w_faulting(p *int) int { return *p }

//go:noinline
func w_fault() {
	defer func() {
		if recover() != nil {
			sink = w_kept(500)
		}
	}()
	sink = w_faulting(nowhere)
}

//go:noinline
func w_deferred() { sink = w_spin(1000) }

//go:noinline
func w_defer() {
	defer w_deferred()
	sink++
}

// Needs more stack than a goroutine begins with.
//
//go:noinline
func w_grow(n int) int {
	var a [512]byte
	a[n%512] = byte(sink)
	if n > 0 {
		return w_grow(n-1) + int(a[n%512])
	}
	return w_spin(1000) + int(a[0])
}

//go:noinline
func w_allocate() {
	var all [][]byte
	for i := 0; i < 40; i++ {
		all = append(all, make([]byte, 40000))
	}
	sink = len(all)
}

func w_in_inner(n int) int { return w_spin(n) + n }
func w_in_outer(n int) int { return w_in_inner(n) + w_in_inner(n+1) }

//go:noinline
func w_inlines() {
	sink = w_in_outer(1500)
}

//go:noinline
func w_clock() {
	for i := 0; i < 100; i++ {
		sink = time.Now().Nanosecond()
	}
}

func w_main(seconds float64, done chan bool) {
	end := time.Now().Add(time.Duration(seconds * 1e9))
	for time.Now().Before(end) {
		w_sort()
		w_recurse(100)
		w_virtual()
		w_closure()
		w_raise()
		w_fault()
		w_defer()
		w_allocate()
		w_inlines()
		w_clock()
		grown := make(chan bool)
		go func() { w_grow(100); grown <- true }()
		<-grown
	}
	done <- true
}

//go:noinline
func w_third() { sink = w_spin(4000) }

//go:noinline
func w_two_thirds() { sink = w_spin(8000) }

func w_shares(seconds float64, done chan bool) {
	end := time.Now().Add(time.Duration(seconds * 1e9))
	for time.Now().Before(end) {
		for i := 0; i < 100; i++ {
			w_third()
			w_two_thirds()
		}
	}
	done <- true
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	f, n := w_main, 2
	if os.Args[1] == "w_shares" {
		f, n = w_shares, 1
	}
	done := make(chan bool)
	for i := 0; i < n; i++ {
		go f(seconds, done)
	}
	for i := 0; i < n; i++ {
		<-done
	}
	fmt.Println("done")
}
