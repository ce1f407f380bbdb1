// SPDX-License-Identifier: BSD-2-Clause
"use strict";
// What tests/e2e/node.py records: functions that call each other in the ways that JavaScript has.  Their names begin
// with w_ and are in EDGES, the call graph; node.py reads them here.
/* EDGES
w_main w_sort w_main w_replace w_main w_reduce w_main w_generate w_main w_recurse w_main w_raise w_main w_method
w_main w_arrow w_main w_spin w_main w_cold
w_sort w_compared w_compared w_spin w_replace w_replaced w_replaced w_spin w_reduce w_reduced w_reduced w_spin
w_generate w_inner w_inner w_spin w_recurse w_recurse w_recurse w_spin w_raise w_raising w_raising w_raising
w_raising w_spin w_raise w_spin w_method w_called w_called w_spin w_arrow w_kept w_kept w_spin w_cold w_spin
END */

function w_spin(n) {
	let x = 0;
	for (let i = 0; i < n; i++)
		x += (i * x) & 3;
	return x;
}

function w_compared(a, b) {
	w_spin(200);
	return a - b;
}

function w_sort() {
	[...Array(40).keys()].reverse().sort(w_compared);
}

function w_replaced(match) {
	w_spin(200);
	return match;
}

function w_replace() {
	"abc".repeat(40).replace(/a/g, w_replaced);
}

function w_reduced(a, b) {
	return w_spin(100) + a;
}

function w_reduce() {
	Array(80).fill(1).reduce(w_reduced);
}

function* w_inner(n) {
	for (let i = 0; i < n; i++) {
		w_spin(100);
		yield i;
	}
}

function w_generate() {
	for (const i of w_inner(80))
		;
}

function w_recurse(n) {
	return n ? w_recurse(n - 1) : w_spin(5000);
}

function w_raising(n) {
	if (!n) {
		w_spin(300);
		throw new Error("no");
	}
	w_raising(n - 1);
}

function w_raise() {
	try {
		w_raising(10);
	} catch (e) {
		w_spin(1000);
	}
}

class W_Thing {
	w_called(n) {
		return w_spin(n);
	}
}

function w_method() {
	for (let i = 0; i < 40; i++)
		new W_Thing().w_called(200);
}

function w_arrow() {
	let n = 200;
	const w_kept = () => w_spin(n++);
	for (let i = 0; i < 40; i++)
		w_kept();
}

// Code that is never compiled: another function each time.
function w_cold() {
	new Function("f", "return f(300) + f(300)")(w_spin);
}

function w_main(seconds) {
	const end = Date.now() + 1000 * seconds;
	while (Date.now() < end) {
		for (const way of [w_sort, w_replace, w_reduce, w_generate, w_raise, w_method, w_arrow, w_cold])
			way();
		w_recurse(100);
	}
}

function w_third() {
	w_spin(4000);
}

function w_two_thirds() {
	w_spin(8000);
}

function w_shares(seconds) {
	const end = Date.now() + 1000 * seconds;
	while (Date.now() < end)
		for (let i = 0; i < 100; i++) {
			w_third();
			w_two_thirds();
		}
}

({w_main, w_shares})[process.argv[2]](Number(process.argv[3]));
