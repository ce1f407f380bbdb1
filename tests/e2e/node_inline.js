// SPDX-License-Identifier: BSD-2-Clause
"use strict";
// What tests/e2e/node.py records to see inlined functions: each call of a w_ function stands in a line of its own.
/* EDGES
w_tick w_round w_round w_outer w_outer w_first w_outer w_second w_first w_second w_second w_leaf
END */
function w_leaf(a, n) {
	return a.slice(0, n).join("-").length;
}

function w_second(a, n) {
	const x = n + 1;
	return x - w_leaf(a, n);
}

function w_first(a, n) {
	return 1 +
		w_second(a, n);
}

function w_outer(a, n) {
	let s = 0;
	s += w_first(a, n);
	s -= w_second(a, n);
	return s;
}

function w_round(a) {
	let s = 0;
	for (let i = 0; i < 20; i++)
		s += w_outer(a, 100);
	return s;
}

// Each tick is a call: code that is entered in the midst of a loop is not the function's own.
const numbers = [...Array(200).keys()];
const end = Date.now() + 1000 * Number(process.argv[2]);

function w_tick() {
	w_round(numbers);
	if (Date.now() < end)
		setImmediate(w_tick);
}

w_tick();
