// SPDX-License-Identifier: BSD-2-Clause
"use strict";
// What tests/e2e/node_graph.py records: functions that await each other.  As in node_work.js, EDGES is who calls whom;
// what goes on after an await counts as called by who awaits it.
/* EDGES
w_main w_outer w_main w_all w_main w_then w_main w_arrow w_main w_method w_main w_twice
w_outer w_middle w_middle w_leaf w_middle w_spin w_leaf w_spin w_all w_leaf w_all w_middle w_then w_leaf w_after w_spin
w_arrow w_middle w_method w_leaf w_twice w_leaf
END */

function w_spin(n) {
	let x = 0;
	for (let i = 0; i < n; i++)
		x += (i * x) & 3;
	return x;
}

async function w_leaf(n) {
	await null;
	return w_spin(n);
}

async function w_middle(n) {
	await w_leaf(n);
	return w_spin(n);
}

async function w_outer(n) {
	return await w_middle(n);
}

async function w_all(n) {
	return await Promise.all([w_leaf(n), w_middle(n)]);
}

function w_after(n) {
	return w_spin(n + 1000);
}

async function w_then(n) {
	return await w_leaf(n).then(w_after);
}

const w_arrow = async (n) => {
	return await w_middle(n);
};

class W_Thing {
	async w_method(n) {
		return await w_leaf(n);
	}
}

async function w_twice(n) {
	for (let i = 0; i < 2; i++)
		await w_leaf(n);
}

async function w_main(seconds) {
	const end = Date.now() + 1000 * seconds;
	while (Date.now() < end) {
		await w_outer(20000);
		await w_all(20000);
		await w_then(20000);
		await w_arrow(20000);
		await new W_Thing().w_method(20000);
		await w_twice(20000);
		await new Promise(setImmediate);
	}
}

w_main(Number(process.argv[2]));
