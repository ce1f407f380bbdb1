// SPDX-License-Identifier: BSD-2-Clause
// Comes before the rest of the page, and asks for the flame graph that the address is of: the answer takes longer than
// reading the page does.
import { askEarly, useToken } from "./app_ask.mjs";
import { flameQuestion, read, tokenOf } from "./app_state.mjs";

const address = read();
if (address.view === "flame" && !("dwellAsked" in window)) { // else the page was here sooner
  useToken(tokenOf(address));
  askEarly("flame", flameQuestion(address));
}
