// Builds elements. Text only ever becomes a text node, so nothing from a catalogue is parsed as markup.

const svgNamespace = "http://www.w3.org/2000/svg";
/** Attributes that are set as properties, because the attribute only gives their first value. */
const properties = new Set(["value", "checked", "indeterminate", "selected", "disabled", "hidden", "open", "htmlFor"]);

/**
 * Makes an element.
 *
 * `h("div.card", { id: "a", onclick: f, style: { width: "3px" } }, "text", child, [more])`: classes follow the name
 * with dots; `on…` adds a listener; `style` and `data` are objects; `true` sets an empty attribute; null and false are
 * left out. A child is a node, text, a number, or an array of them; null, undefined and false are left out.
 */
export function h(name, attributes, ...children) {
  return build(document.createElement(name.split(".", 1)[0]), name, attributes, children);
}

/** Makes an SVG element, with the arguments of `h`. */
export function s(name, attributes, ...children) {
  return build(document.createElementNS(svgNamespace, name.split(".", 1)[0]), name, attributes, children);
}

function build(element, name, attributes, children) {
  const dot = name.indexOf(".");
  if (dot >= 0) element.setAttribute("class", name.slice(dot + 1).replaceAll(".", " "));
  if (isChild(attributes)) {
    append(element, [attributes]);
  } else {
    for (const key in attributes) set(element, key, attributes[key]);
  }
  append(element, children);
  return element;
}

function isChild(value) {
  return typeof value !== "object" || value === null || value instanceof Node || Array.isArray(value);
}

function set(element, key, value) {
  if (key.startsWith("on")) {
    if (value) element.addEventListener(key.slice(2), value);
  } else if (key === "style") {
    for (const name in value) element.style.setProperty(name, value[name]);
  } else if (key === "data") {
    for (const name in value) element.dataset[name] = value[name];
  } else if (properties.has(key) && key in element) {
    if (value !== undefined && value !== null) element[key] = value;
  } else if (value !== null && value !== undefined && value !== false) {
    element.setAttribute(key, value === true ? "" : String(value));
  }
}

/** Appends children as `h` does. */
export function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === true) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** Replaces all children of `element`. */
export function replace(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/** Makes `text` all that an element has; a text node that is there already is used again. */
export function setText(element, text) {
  const node = element.firstChild;
  if (node === null || node !== element.lastChild || node.nodeType !== 3) element.textContent = text;
  else if (node.data !== text) node.data = text;
}

/** Characters that begin or end a direction. Nobody types them: they make `abc, U+202E, gnp.exe` look like another file. */
const directions = /[\u202a-\u202e\u2066-\u2069]/g;
/** Letters that are written from right to left. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802\ud803\ud83a\ud83b]/;

/** A text with its direction controls written out: they turn nothing, and are seen. */
export function shown(text) {
  return text.replace(directions, c => `[U+${c.charCodeAt(0).toString(16).toUpperCase()}]`);
}

/** A text for the middle of a sentence: it has a direction of its own, and turns nothing around it. */
export function isolated(text) {
  return rightToLeft.test(text) ? `\u2068${shown(text)}\u2069` : shown(text);
}

/** A value from a catalogue as text of its own direction, so that marks in it cannot turn what stands around it. */
export function value(text, attributes) {
  return h("bdi", attributes ?? {}, text === null || text === undefined ? "" : shown(String(text)));
}

/**
 * A value with the parts in `ranges` (pairs of UTF-16 offsets) marked. Ranges that overlap, go back or lie outside the
 * text are cut to what is left.
 */
export function marked(text, ranges) {
  const element = h("bdi", {});
  let from = 0;
  for (const [start, end] of ranges ?? []) {
    const first = Math.max(from, start), last = Math.min(text.length, end);
    if (first >= last) continue;
    append(element, [shown(text.slice(from, first)), h("mark", {}, shown(text.slice(first, last)))]);
    from = last;
  }
  append(element, [shown(text.slice(from))]);
  return element;
}
