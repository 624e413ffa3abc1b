// Parts that several pages share: tables, codes, trees of nested values, differences, pending changes.

import { h, value, replace } from "../dom.js";
import { number } from "../format.js";
import { ExactNumber } from "../api.js";
import { t } from "../text.js";
import { messageOf } from "../errors.js";

/** How many entries of one level of a tree are shown before a button asks for more. */
const treeStep = 100;

const controlNames = ("NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US")
  .split(" ");

/** Characters that are not seen: controls, and marks of direction, which would turn the digits around them. */
const unseen = /([\0-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff])/;

/** A code with a dot for each character that is not seen, so that texts below each other stay aligned. */
export function visible(text) {
  return String(text).replace(new RegExp(unseen, "g"), "•");
}

/** A code, in the font of codes, with the names of the characters that are not seen. */
export function code(text, attributes) {
  return h("bdi.mono.code", { dir: "ltr", ...attributes },
    String(text).split(unseen).map((part, index) => index % 2 === 0 ? part
    : h("span.control", {}, controlNames[part.charCodeAt(0)]
      ?? "U+" + part.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0"))));
}

/** The parameter for the commit of the view, for requests that do not get it by themselves. */
export function asOf({ sequence }) {
  return sequence === null ? "" : "?at=" + sequence;
}

/** Says on a view of the past that what this page shows has none. */
export function present(context) {
  return context.view.at !== null && h("p.muted.small", {}, t("present"));
}

/** A wide table in a region that scrolls by keyboard as well. A column `[text]` has numbers. */
export function table(label, columns, rows) {
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": label },
    h("table.data", {}, h("thead", {}, h("tr", {}, columns.map(column =>
      Array.isArray(column) ? h("th.number", { scope: "col" }, column[0]) : h("th", { scope: "col" }, column)))),
    h("tbody", {}, rows)));
}

/** Buttons of which the one for the current view is marked: `[text, address, isCurrent]`. */
export function tabs(label, entries) {
  return h("div.toolbar", { role: "group", "aria-label": label }, entries.map(([text, url, current]) =>
    h("a.button", { href: url, "aria-current": current ? "page" : null }, text)));
}

export function empty(key) {
  return h("p.empty", {}, t(key));
}

/** A link to a product, or its id if the catalogue lacks it. */
export function product(context, item, id = item?.id) {
  return item === null || item === undefined ? value(id, { class: "mono" })
    : h("a", { href: context.href("products", [item.id]) }, value(clip(item.name || item.id)));
}

/** A long text cut for a table; the whole text is on the page of what it names. */
export function clip(text, length = 160) {
  const string = String(text);
  return string.length <= length ? string : string.slice(0, length).replace(/[\ud800-\udbff]$/, "") + "…";
}

/** A JSON value on one line. */
export function json(item) {
  return item === undefined ? "–" : typeof item === "string" ? item : JSON.stringify(item);
}

/** A nested JSON value as a tree whose branches open; `levels` of them are open at first. */
export function tree(item, levels = 1) {
  return isNested(item) ? h("div.tree", {}, branch(item, levels)) : leaf(item);
}

/** Whether a JSON value is an object or a list. */
const isNested = item => typeof item === "object" && item !== null && !(item instanceof ExactNumber);

function leaf(item) {
  const type = item === null ? "null" : item instanceof ExactNumber ? "number" : typeof item;
  return value(typeof item === "string" ? JSON.stringify(item) : String(item), { class: "mono json-" + type });
}

function branch(item, levels) {
  const keys = Object.keys(item);
  const list = h("ul", {});
  const more = from => {
    for (const key of keys.slice(from, from + treeStep)) list.append(node(key, item[key], levels - 1));
    if (keys.length <= from + treeStep) return;
    const last = h("li", {}, h("button.button.little", { type: "button", onclick: () => {
      const next = list.children.length - 1;
      last.remove();
      more(next);
      list.children[next]?.querySelector("summary")?.focus();
    } }, t("more.of", { n: keys.length - from - treeStep })));
    list.append(last);
  };
  more(0);
  return list;
}

function node(key, item, levels) {
  if (!isNested(item)) return h("li", {}, value(key, { class: "key" }), ": ", leaf(item));
  const size = Object.keys(item).length;
  const words = h("span.muted", {}, Array.isArray(item) ? ` [${number(size)}]` : ` {${number(size)}}`);
  if (size === 0) return h("li", {}, value(key, { class: "key" }), words);
  // The inside is built when the branch is opened for the first time.
  const details = h("details", { ontoggle: () => {
    if (details.open && details.children.length === 1) details.append(branch(item, 0));
  } }, h("summary", {}, value(key, { class: "key" }), words));
  if (levels > 0) {
    details.append(branch(item, levels));
    details.open = true;
  }
  return h("li", {}, details);
}

/** The leaves in which two JSON values differ: `{ field, before, after }`, at most `limit`; undefined is an absent one. */
export function differences(before, after, path = "", found = [], limit = 500) {
  if (found.length >= limit || JSON.stringify(before) === JSON.stringify(after)) return found;
  if (isNested(before) && isNested(after) && Array.isArray(before) === Array.isArray(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      differences(before[key], after[key], path ? path + "." + key : key, found, limit);
    }
  } else {
    found.push({ field: path || "–", before, after });
  }
  return found;
}

/** Fields that changed, before → after, as a list. */
export function fields(changes) {
  return h("dl.changes", {}, changes.map(({ field, before, after }) => [
    h("dt", {}, value(field, { class: "mono" })),
    h("dd", {},
      before === undefined || before === null ? null : h("del", {}, value(clip(json(before), 400))),
      before !== undefined && before !== null && after !== undefined && after !== null
        && h("span.muted", { "aria-hidden": "true" }, " → "),
      after === undefined || after === null ? null : h("ins", {}, value(clip(json(after), 400)))),
  ]));
}

/** The changes that wait, by the page that they belong to: they stay while other pages are visited. */
const waiting = new Map();
addEventListener("beforeunload", event => {
  for (const changes of waiting.values()) if (changes.size > 0) event.preventDefault();
});

/**
 * Changes that wait for a review, those of `name`. `add` takes one (a later one with the same key takes its place), `element` shows them
 * with their differences, and "Save" calls `save(changes)`, which saves all of them or throws.
 */
export function pending(context, name, save, saved) {
  if (!waiting.has(name)) waiting.set(name, new Map());
  const changes = waiting.get(name);
  const element = h("section", { "aria-live": "polite", "aria-label": t("pending") });
  let busy = false;

  function show(error) {
    if (changes.size === 0) return replace(element);
    replace(element, h("div.card.pending", {},
      h("h2", {}, t("pending.n", { n: changes.size })),
      error && h("div.notice.bad", { role: "alert" }, h("p", {}, h("bdi", {}, messageOf(error)))),
      h("ul.list", {}, [...changes].map(([key, change]) => h("li", {},
        h("div.row.between", {}, h("span", {}, h("span.badge.accent", {}, t("pending." + kind(change))), " ",
          value(change.title)),
          h("button.button.little", { type: "button", "aria-label": t("pending.undo") + ": " + change.title,
            disabled: busy,
            onclick: () => { changes.delete(key); show(); } }, t("pending.undo"))),
        fields(differences(change.before, change.after))))),
      h("div.row", {},
        h("button.button.primary", { type: "button", disabled: busy, onclick: send },
          t("pending.save", { n: changes.size })),
        h("button.button", { type: "button", disabled: busy, onclick: () => { changes.clear(); show(); } },
          t("pending.discard")))));
  }

  async function send() {
    busy = true;
    show();
    try {
      await save([...changes.values()]);
      changes.clear();
      busy = false;
      show();
      context.announce(t("pending.saved"));
      saved();
    } catch (error) {
      busy = false;
      if (error.name !== "AbortError") show(error);
    }
  }

  show();
  return {
    element,
    get: key => changes.get(key),
    add(key, change) {
      if (JSON.stringify(change.before) === JSON.stringify(change.after)) changes.delete(key);
      else changes.set(key, change);
      show();
      context.announce(t("pending.n", { n: changes.size }));
    },
  };
}

function kind({ before, after }) {
  return before === undefined ? "added" : after === undefined ? "removed" : "changed";
}

/** Which sets a series of scans makes whole, and what the others lack. */
export function completion(context, answer) {
  const name = id => h("a", { href: context.href("sets", [id]) }, value(clip(answer.names?.[id] || id)));
  const part = (id, n) => h("li", {}, number(n) + " × ",
    h("a", { href: context.href("products", [id]) }, value(clip(answer.names?.[id] || id))));
  const whole = Object.entries(answer.complete), open = Object.entries(answer.incomplete);
  return h("div.stack", {},
    whole.length + open.length === 0 && h("p.muted", {}, t("sets.none")),
    whole.length > 0 && h("section", {}, h("h3", {}, t("sets.complete")), h("ul.list", {}, whole.map(([id, times]) =>
      h("li", {}, h("span.badge.good", {}, "✓ " + t("sets.whole")), " ", name(id), times > 1 ? ` × ${number(times)}`
        : null)))),
    open.length > 0 && h("section", {}, h("h3", {}, t("sets.open")),
      h("ul.list", {}, open.slice(0, 100).map(([id, missing]) =>
      h("li", {}, h("span.badge.warn", {}, t("sets.lacks", { n: Object.keys(missing).length })), " ", name(id),
        h("ul.parts", {}, Object.entries(missing).map(([part_, n]) => part(part_, n)))))),
    open.length > 100 && h("p.muted", {}, t("more.of", { n: open.length - 100 }))),
    answer.unknown?.length > 0 && h("section", {}, h("h3", {}, t("sets.unknown")),
      h("p.row", {}, answer.unknown.map(text =>
      h("span.badge.bad", {}, code(clip(text, 80)))))));
}

/** A field that scanners type into: Enter or Tab ends a code, and control characters that browsers drop are kept. */
export function scanField(label, heard) {
  let typed = false;
  // Scanners type a control character as Ctrl and the key 64 positions further on: GS is Ctrl+].
  const controls = { "\\": "\x1c", "]": "\x1d", "^": "\x1e", "_": "\x1f" };
  const take = event => {
    const text = field.value;
    if (text === "") return;
    event?.preventDefault();
    typed = false;
    field.select();
    heard(text);
  };
  const field = h("input.bigfield", {
    type: "search", "aria-label": label, placeholder: label, autocapitalize: "off", spellcheck: "false",
    enterkeyhint: "go", maxlength: "4096",
    oninput: () => { typed = field.value !== ""; },
    onkeydown: event => {
      if (event.isComposing) return;
      if (event.key === "Enter") return take(event);
      // Tab ends a code that was just typed; otherwise it moves on as everywhere.
      if (event.key === "Tab" && !event.shiftKey && typed) return take(event);
      const sign = event.key.length === 1 && event.key < " " ? event.key
        // Some keyboards send a control character as a key without a name: in codes that is GS.
        : event.key === "" && event.keyCode === 0 ? "\x1d"
        : event.ctrlKey && !event.altKey && !event.metaKey ? controls[event.key] : undefined;
      if (sign === undefined || sign === "\r" || sign === "\n") return;
      event.preventDefault();
      field.setRangeText(sign, field.selectionStart, field.selectionEnd, "end");
      typed = true;
    },
  });
  return field;
}
