// SPDX-License-Identifier: BSD-2-Clause
// The page of a listing, which has its data in it.
import { unpack } from "./flame_data.mjs";
import { showListing } from "./list_view.mjs";

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);

async function start() {
  const listing = JSON.parse(new TextDecoder().decode(await unpack($("data").textContent)));
  document.title = listing.procedure;
  $("account").textContent = listing.account;
  document.addEventListener("keydown", showListing(listing).key);
}

start();
