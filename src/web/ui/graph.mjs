// SPDX-License-Identifier: BSD-2-Clause
// The page of a procedure's graph, which has its data in it.
import { unpack } from "./flame_data.mjs";
import { factsOf, showGraph } from "./graph_view.mjs";

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);

async function start() {
  const [calc, more] = JSON.parse(new TextDecoder().decode(await unpack($("data").textContent)));
  document.title = calc.procedure;
  $("title").textContent = calc.procedure;
  $("facts").textContent = `${factsOf(calc)} · in ${calc.image}`;
  $("account").textContent = more.account;
  const graph = showGraph($("graph"), calc);
  document.addEventListener("keydown", (event) => {
    if (!/^(INPUT|SELECT)$/.test(/** @type {Element} */ (event.target).tagName))
      graph.key(event);
  });
}

start();
