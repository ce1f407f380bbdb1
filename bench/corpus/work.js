// SPDX-License-Identifier: BSD-2-Clause
// Work of a usual kind for a compiler at run time: text, tables, regular expressions, recursion.
'use strict';
const fs = require('fs');
const zlib = require('zlib');

class Node {
	constructor(key) {
		this.key = key;
		this.left = this.right = null;
	}
	insert(key) {
		const side = key < this.key ? 'left' : 'right';
		if (this[side])
			this[side].insert(key);
		else
			this[side] = new Node(key);
	}
	depth() {
		return 1 + Math.max(this.left ? this.left.depth() : 0, this.right ? this.right.depth() : 0);
	}
}

function fibonacci(n) {
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

const text = fs.readFileSync(process.argv[2], 'latin1');
let words = [], tree;
for (let round = 0; round < 3; round++) {
	const count = new Map();
	words = text.match(/[a-z_]{3,}/g);
	for (const word of words)
		count.set(word, (count.get(word) || 0) + 1);
	const top = [...count].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 2000);
	if (JSON.parse(JSON.stringify(top)).length !== top.length)
		throw new Error('JSON');
	tree = new Node('m');
	for (const word of [...count.keys()].slice(0, 6000))
		tree.insert(word);
}
console.log(words.length, tree.depth(), fibonacci(30), zlib.deflateSync(text).length);
