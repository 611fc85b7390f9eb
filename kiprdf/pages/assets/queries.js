"use strict";
// The pane for queries: Ctrl+Enter, a short command in the address, completion, and the history of
// questions, which stays in this browser.
const question = document.getElementById("question");
const area = question.elements.command;
const ADDRESS_BYTES = Number(question.dataset.addressBytes);

const isShort = (command) => `${new URLSearchParams({ command })}`.length <= ADDRESS_BYTES;

question.addEventListener("submit", () => {
  question.method = isShort(area.value) ? "get" : "post";
});

// Completion -------------------------------------------------------------------------------------

const PART = /"(?:[^"\\]|\\.)*"?|\/\/[^\n]*|[\][{}()]|[^\][{}()"/]+|\//gs;
const COMMANDS = ["DESCRIBE", "EXPORT", "FIND", "SEARCH"];
const FIELDS = ["attributes.", "id", "metadata.", "name", "object", "predicate", "subject", "type"];
const KEYS = ["id: ", "name: ", "type: "];
const SHOWN = 100;
const list = document.createElement("ul");
Object.assign(list, { id: "completions", className: "completions", hidden: true });
list.setAttribute("role", "listbox");
list.setAttribute("aria-label", "Completions");
area.after(list);
let names;
let options = [];
let active = 0;
let start = 0;

const load = () => {
  names ??= fetch(area.dataset.names, { credentials: "same-origin" }).then(
    (answer) => (answer.ok ? answer.json() : null),
    () => null,
  );
  return names;
};

// The text up to the innermost open bracket.
const opening = (parts) => {
  const opened = [];
  parts.forEach((part, index) => {
    if ("([{".includes(part)) {
      opened.push(index + 1);
    } else if (")]}".includes(part)) {
      opened.pop();
    }
  });
  return parts.slice(0, opened.pop() ?? 0).join("").trimEnd();
};

// The names that a string at the end of a text may be.
const namesInString = (parts, known) => {
  const text = parts.join("").trimEnd();
  if (/\bPROPOSITION\s+TYPE$/.test(text)) {
    return known.predicates;
  }
  if (/(\btype"?\s*:|\bTYPE)$/.test(text)) {
    return known.concept_types;
  }
  return /[,|(]$/.test(text) && /(^|\W)\($/.test(opening(parts)) ? known.predicates : [];
};

// What a caret stands behind: the beginning of the word, and the texts that it may become.
const candidates = (known, isAsked) => {
  const caret = area.selectionStart;
  const before = area.value.slice(0, caret);
  const after = area.value.slice(caret);
  const parts = before.match(PART) ?? [];
  const last = parts.at(-1) ?? "";
  if (last.startsWith("//")) {
    return { word: "", found: [] };
  }
  if (last.startsWith('"') && !/^"(?:[^"\\]|\\.)*"$/s.test(last)) {
    const close = after.startsWith('"') ? "" : '"';
    const found = namesInString(parts.slice(0, -1), known);
    return { word: last.slice(1), isEmpty: true, found, close };
  }
  const word = before.match(/[?$\w.]*$/)[0];
  const context = before.slice(0, caret - word.length).match(PART) ?? [];
  if (word.startsWith("?")) {
    const [variable, field, key] = word.split(".");
    if (key !== undefined) {
      const found = (known[field] ?? []).map((one) => `${variable}.${field}.${one}`);
      return { word, found, isEmpty: true };
    }
    if (field !== undefined) {
      return { word, found: FIELDS.map((one) => `${variable}.${one}`), isEmpty: true };
    }
    const others = context.join("") + " " + after.replace(/^\w*/, "");
    return { word, found: [...new Set(others.match(/\?[a-zA-Z_]\w*/g))].sort(), isEmpty: true };
  }
  const quoted = namesInString(context, known);
  if (quoted.length && !/\($/.test(context.join("").trimEnd())) {
    return { word, found: quoted, before: '"', close: '"', isEmpty: isAsked };
  }
  const block = opening(context);
  const isMatcher = block.endsWith("{") && !/(\b(WHERE|NOT|OPTIONAL|UNION)\s*|^)\{$/.test(block);
  const isFirst = !context.join("").trim();
  const words = isFirst ? COMMANDS : isMatcher ? KEYS : known.keywords;
  return { word, found: words, isEmpty: isAsked };
};

const close = () => {
  list.hidden = true;
  options = [];
  for (const name of ["role", "aria-expanded", "aria-controls", "aria-autocomplete"]) {
    area.removeAttribute(name);
  }
  area.removeAttribute("aria-activedescendant");
};

const choose = (index) => {
  active = (index + options.length) % options.length;
  [...list.children].forEach((one, number) => {
    one.setAttribute("aria-selected", String(number === active));
  });
  list.children[active].scrollIntoView({ block: "nearest" });
  area.setAttribute("aria-activedescendant", list.children[active].id);
};

// Below the beginning of the word: a copy of the text before it has the same lines.
const place = () => {
  const copy = document.createElement("div");
  const style = getComputedStyle(area);
  for (const name of ["font", "lineHeight", "letterSpacing", "padding", "border", "boxSizing"]) {
    copy.style[name] = style[name];
  }
  Object.assign(copy.style, { position: "absolute", visibility: "hidden", whiteSpace: "pre-wrap" });
  Object.assign(copy.style, { overflowWrap: "break-word", width: `${area.clientWidth}px` });
  copy.textContent = area.value.slice(0, start);
  const mark = copy.appendChild(document.createElement("span"));
  mark.textContent = "\u200b";
  mark.style.display = "inline-block";
  area.after(copy);
  const left = Math.min(mark.offsetLeft, area.clientWidth - list.offsetWidth);
  const top = mark.offsetTop + mark.offsetHeight - area.scrollTop;
  copy.remove();
  list.style.left = `${area.offsetLeft + Math.max(0, left)}px`;
  list.style.top = `${area.offsetTop + Math.min(top, area.offsetHeight)}px`;
};

const accept = () => {
  const text = options[active];
  area.setSelectionRange(start, area.selectionStart);
  close();
  // As if typed, so that it can be undone.
  if (!document.execCommand("insertText", false, text)) {
    area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  }
};

const complete = async (isAsked = false) => {
  const known = await load();
  if (!known || document.activeElement !== area) {
    return;
  }
  const caret = candidates(known, isAsked);
  const typed = caret.word.toLowerCase();
  const matching = caret.found.filter((one) => one.toLowerCase().startsWith(typed));
  const isComplete = caret.found.includes(caret.word) && !isAsked;
  if (!matching.length || isComplete || (!caret.word && !caret.isEmpty)) {
    close();
    return;
  }
  start = area.selectionStart - caret.word.length;
  const shown = matching.slice(0, SHOWN);
  options = shown.map((one) => (caret.before ?? "") + one + (caret.close ?? ""));
  list.replaceChildren(
    ...shown.map((one, index) => {
      const item = document.createElement("li");
      item.id = `completion-${index}`;
      item.setAttribute("role", "option");
      item.textContent = one;
      return item;
    }),
  );
  list.hidden = false;
  const state = { role: "combobox", "aria-expanded": "true", "aria-controls": list.id };
  for (const [name, value] of Object.entries({ ...state, "aria-autocomplete": "list" })) {
    area.setAttribute(name, value);
  }
  choose(0);
  place();
};

area.addEventListener("focus", load);
if (document.activeElement === area) {
  load();
}
area.addEventListener("input", (event) => {
  if (event.inputType.startsWith("insertText") || (event.inputType.startsWith("delete") && !list.hidden)) {
    complete();
  } else {
    close();
  }
});
area.addEventListener("blur", close);
area.addEventListener("scroll", close);
area.addEventListener("click", close);
area.addEventListener("keydown", (event) => {
  if (event.isComposing) {
    return;
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    question.requestSubmit(question.querySelector("[type=submit]"));
  } else if (event.key === " " && event.ctrlKey) {
    event.preventDefault();
    complete(true);
  } else if (!list.hidden) {
    const moves = { ArrowDown: active + 1, ArrowUp: active - 1 };
    if (event.key in moves) {
      event.preventDefault();
      choose(moves[event.key]);
    } else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey) {
      event.preventDefault();
      accept();
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    } else if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) {
      close();
    }
  }
});
list.addEventListener("mousedown", (event) => {
  event.preventDefault();
  const item = event.target.closest("[role=option]");
  if (item && event.button === 0) {
    choose([...list.children].indexOf(item));
    accept();
  }
});

// History ----------------------------------------------------------------------------------------

const asked = document.getElementById("asked");
const KEPT = 50;
const key = `kiprdf ${new URL(question.action).pathname} ${asked.dataset.reader}`;
const read = () => {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
};
const write = (commands) => {
  try {
    localStorage.setItem(key, JSON.stringify(commands.slice(0, KEPT)));
  } catch {
    // A browser may keep nothing.
  }
};
const show = () => {
  const commands = read();
  asked.hidden = !commands.length;
  asked.querySelector("ul").replaceChildren(
    ...commands.map((command) => {
      const link = document.createElement("a");
      const address = new URL(question.action);
      address.searchParams.set("command", command);
      link.href = address;
      link.appendChild(document.createElement("code")).textContent = command;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }),
  );
};
if ("answered" in asked.dataset && isShort(area.defaultValue)) {
  write([area.defaultValue, ...read().filter((one) => one !== area.defaultValue)]);
}
asked.querySelector("button").addEventListener("click", () => {
  localStorage.removeItem(key);
  show();
});
show();
