// SPDX-License-Identifier: BSD-2-Clause
// Prices as JSON: node prices.js PORT
const http = require("http");
const goods = Array.from({ length: 400 }, (_, i) => ({ id: i, name: "item " + i, price: (i * 7919) % 1000 }));

function discounted(item) {
	return { ...item, price: Math.round(item.price * 0.93), tags: item.name.split(" ") };
}

function listPrices() {
	return JSON.stringify(goods.map(discounted).sort((a, b) => a.price - b.price));
}

http.createServer((request, response) => response.end(listPrices())).listen(+process.argv[2], "127.0.0.1");
