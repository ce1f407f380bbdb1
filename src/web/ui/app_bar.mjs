// SPDX-License-Identifier: BSD-2-Clause
// Completion at the caret of an input, and the caret of the language's errors under it.
//
// Typing, Ctrl-Space and arrow keys open the list; arrow keys choose, Enter and Tab take, Esc closes.
import { el } from "./app_dom.mjs";

const MOST = 12;

// WORDS(text, caret) is { from, to, options } or a promise of it: each option, { word, says }, may stand for the text
// between FROM and TO.
export function completing(input, words) {
  const list = el("ul", { class: "options", role: "listbox", id: `${input.id}-options`, hidden: true });
  const error = el("pre", { class: "caret", "aria-live": "polite", hidden: true });
  let now = null, active = -1, asked = 0;
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.after(list, error);
  close();

  // Also an answer that is still to come opens nothing then.
  function close() {
    asked++;
    now = null;
    active = -1;
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(i) {
    active = i;
    [...list.children].forEach((c, k) => c.setAttribute("aria-selected", String(k === i)));
    if (i >= 0)
      input.setAttribute("aria-activedescendant", `${input.id}-option-${i}`);
    list.children[i]?.scrollIntoView({ block: "nearest" });
  }

  function take(i) {
    const { from, to, options } = now, { word } = options[i];
    input.value = input.value.slice(0, from) + word + input.value.slice(to);
    input.setSelectionRange(from + word.length, from + word.length);
    close();
    if (/[=:^|!]$/.test(word))
      open();
  }

  async function open() {
    const mine = ++asked, next = await words(input.value, input.selectionStart);
    if (mine !== asked || document.activeElement !== input)
      return;
    const options = next.options.slice(0, MOST);
    if (!options.length || options.length === 1 && options[0].word === input.value.slice(next.from, next.to)) {
      close();
      return;
    }
    now = { ...next, options };
    list.replaceChildren(...options.map((o, i) => el("li", { role: "option", id: `${input.id}-option-${i}`, onpointerdown: (e) => {
      e.preventDefault();
      take(i);
    } }, el("b", {}, o.word), " ", el("span", { class: "soft" }, o.says || ""))));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    choose(-1);
  }

  input.addEventListener("input", () => {
    error.hidden = true;
    close(); // what stands there is of the text before
    open();
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (e) => {
    if (e.key === " " && e.ctrlKey || e.key === "ArrowDown" && !now) {
      open();
    } else if (!now) {
      return;
    } else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      choose((active + (e.key === "ArrowDown" ? 1 : now.options.length + (active < 0 ? 0 : -1))) % now.options.length);
    } else if (e.key === "Tab" && !e.shiftKey || e.key === "Enter" && active >= 0) {
      take(Math.max(active, 0));
    } else if (e.key === "Escape") {
      close();
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  });
  return {
    // Shows MESSAGE, the command's, if it is about what is in the input: what is wrong there is marked and selected.
    tell(message) {
      const lines = message.split("\n"), at = lines.findIndex((line) => /^\s*\^+\s*$/.test(line));
      error.hidden = true;
      if (at < 2 || lines[at - 1].trim() !== input.value.trim())
        return false;
      const [said, text, marks] = lines.slice(at - 2);
      const from = marks.indexOf("^") - (text.length - text.trimStart().length), to = from + marks.trim().length;
      error.textContent = `${" ".repeat(from)}${marks.trim()} ${said.replace(/^[^:]*: (--pm: )?/, "")}`;
      error.style.marginLeft = `${-input.scrollLeft}px`;
      error.hidden = false;
      input.setSelectionRange(from, to);
      return true;
    },
  };
}

const starting = (list, part) => list.filter((o) => o.word.startsWith(part) && o.word !== part)
  .concat(part ? list.filter((o) => !o.word.startsWith(part) && o.word.includes(part)) : []);

const OPERATORS = [{ word: "^", says: "and" }, { word: "|", says: "or" }, { word: ":", says: "a counter of these samples" },
  { word: "::", says: "for each of the samples of" }, { word: "+", says: "one more column" }];

// Words of the language of --pm.  FACTS: { kind: "bit", "trap" or "counter", name, says }.
export function setWords(facts) {
  const bits = facts.filter((f) => f.kind !== "counter").map((f) => ({ word: f.name, says: f.says }));
  const counters = facts.filter((f) => f.kind === "counter").map((f) => ({ word: f.name, says: f.says }));
  bits.push({ word: "any", says: "every sample" }, { word: "trap", says: "some trap" }, { word: "default", says: "the events themselves" });
  return (text, caret) => {
    const before = text.slice(0, caret), part = /[\w.-]*$/.exec(before)[0], from = caret - part.length;
    const isCounter = /[^:]:$/.test(before.slice(0, from));
    const known = isCounter ? counters : bits;
    const options = starting(known, part);
    if (!part && !isCounter)
      options.unshift({ word: "!", says: "not" }, { word: "(", says: "" });
    if (known.some((o) => o.word === part) || !part && /\)$/.test(before))
      return { from: caret, to: caret, options: OPERATORS.filter((o) => !isCounter || o.word === "::" || o.word === "+") };
    return { from, to: caret, options };
  };
}

// Words of the form KEY=VALUE.  KEYS: { word: "comm=", says }; VALUES(key) is a promise of options.
export function keyWords(keys, values) {
  return async (text, caret) => {
    const from = text.slice(0, caret).search(/\S*$/), word = text.slice(from, caret), at = word.indexOf("=");
    if (at < 0)
      return { from, to: caret, options: starting(keys, word) };
    return { from: from + at + 1, to: caret, options: starting(await values(word.slice(0, at)), word.slice(at + 1)) };
  };
}
