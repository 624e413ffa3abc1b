// A virtual table: any number of rows in a bounded number of elements, with native scrolling.
//
// Rows have one height. Browsers stop at about 16 million pixels, so a longer table is drawn on `longest` pixels: near
// both ends a pixel of the scroll bar is a pixel of the table, and in between positions are scaled. A movement of less
// than two windows (wheel, touch, arrow keys) always moves the rows by just as many pixels; after it, the scroll bar is
// put where the rows are, unseen. Rows are elements of a pool; a row is filled again only when it shows another index.

import { h, replace, setText } from "./dom.js";

const longest = 8_000_000;
/** Pixels at both ends that are not scaled: more than anybody turns the wheel without a pause. */
const exact = 100_000;
export const pageSize = 100;
/** Pages that are kept: 80 pages of 100 rows are some megabytes. */
const keptPages = 80;
const overscan = 8;
const parallel = 3;

let grids = 0;

/**
 * Makes a table.
 *
 * - `label`: its accessible name.
 * - `load(page, signal)`: a promise of the rows of a page of 100.
 * - `fill(host, row, column)`: puts a cell's content into `host`, a `<bdi>`.
 * - `open(row, index)`: Enter or a click on a row. `sort(field)`: a click on a header. `move(field, by)`: Alt and an
 *   arrow key on a header. `active(row, index)`: another row is current. `leave()`: ArrowUp in the first row.
 * - `rest(index)`: scrolling stopped with `index` at the top. `failed(error)`: a page could not be loaded.
 */
export function createGrid({ label, load, fill, open, sort, move, active, leave, rest, failed }) {
  const name = "grid" + ++grids;
  const head = h("div.grid-row", { role: "row" });
  const body = h("div.grid-body", { role: "rowgroup" });
  const space = h("div.grid-space", { role: "presentation" }, body);
  const element = h("div.grid", {
    role: "grid", tabindex: "0", "aria-label": label, "aria-rowcount": "-1", "aria-readonly": "true",
    onscroll: scrolled, onkeydown: pressed, onclick: clicked,
  }, h("div.grid-head", { role: "rowgroup" }, head), space);

  let columns = [];
  let count = 0;
  let rowHeight = 34;
  let height = 0;
  /** Height of all rows, and of the element that stands for them. */
  let virtual = 0, physical = 0;
  /** The pixel of the table at the top of the window, and the scroll position that it belongs to. */
  let top = 0, last = 0;
  /** The row at the start of `body`, whose elements are placed relative to it. */
  let anchor = 0;
  let pool = [];
  let pages = new Map();
  /** The number of rows of the table when a page was loaded. */
  let counts = new Map();
  let loading = new Map();
  let generation = 0;
  let current = { row: 0, column: 0 };
  let selectedKey = null;
  let frame = 0, idle = 0, direction = 1;

  // Positions

  function toPhysical(v) {
    if (virtual === physical) return v;
    if (v <= exact) return v;
    if (v >= virtual - exact) return physical - (virtual - v);
    return exact + (v - exact) * (physical - 2 * exact) / (virtual - 2 * exact);
  }

  function toVirtual(p) {
    if (virtual === physical) return p;
    if (p <= exact) return p;
    if (p >= physical - exact) return virtual - (physical - p);
    return exact + (p - exact) * (virtual - 2 * exact) / (physical - 2 * exact);
  }

  function viewHeight() {
    return Math.max(rowHeight, height - rowHeight);
  }

  function limit(v) {
    return Math.max(0, Math.min(v, virtual - viewHeight()));
  }

  /** The end of scrolling stands for the last row at the bottom of the window, not below it. */
  function fromScroll(position) {
    const most = Math.max(1, physical - viewHeight());
    return position >= most - 1 ? limit(virtual) : limit(toVirtual(position));
  }

  function place(v) {
    top = limit(v);
    const position = toPhysical(top);
    if (Math.abs(element.scrollTop - position) >= 1) element.scrollTop = position;
    last = element.scrollTop;
    anchorAt(Math.floor(top / rowHeight));
  }

  /** Puts the start of `body` where row `row` is drawn now. All rows of the pool are placed anew. */
  function anchorAt(row) {
    anchor = row;
    body.style.top = Math.round((last + row * rowHeight - top) * 64) / 64 + "px";
    for (const slot of pool) if (slot.index >= 0) put(slot, slot.index);
  }

  function put(slot, index) {
    slot.element.style.transform = `translateY(${(index - anchor) * rowHeight}px)`;
  }

  function scrolled() {
    const position = element.scrollTop;
    if (position !== last) {
      const delta = position - last;
      direction = Math.sign(delta);
      if (virtual === physical) {
        top = position;
        last = position;
      } else if (Math.abs(delta) < 2 * height) {
        top = limit(top + delta);
        last = position;
        const drift = Math.abs(toPhysical(top) - position);
        if (drift > exact / 2 || position <= 0 || position >= physical - viewHeight() - 1) place(top);
      } else {
        top = fromScroll(position);
        last = position;
        anchorAt(Math.floor(top / rowHeight));
      }
      if (Math.abs(Math.floor(top / rowHeight) - anchor) > 1000) anchorAt(Math.floor(top / rowHeight));
    }
    if (!frame) frame = requestAnimationFrame(() => { frame = 0; render(); });
    clearTimeout(idle);
    idle = setTimeout(rested, 160);
  }

  function rested() {
    if (virtual !== physical && Math.abs(toPhysical(top) - element.scrollTop) >= 1) place(top);
    rest?.(Math.round(top / rowHeight));
  }

  // Rows

  function makeRow() {
    const element = h("div.grid-row", { role: "row", hidden: true });
    body.append(element);
    return { element, cells: [], index: -1, row: undefined };
  }

  function shape(slot) {
    slot.cells = columns.map((column, i) => {
      const host = h("bdi", {});
      const cell = h("div.grid-cell" + (column.number ? ".number" : "") + (column.code ? ".mono" : ""),
        { role: "gridcell", "aria-colindex": i + 1, data: { field: column.field } }, host);
      return { cell, host };
    });
    slot.element.replaceChildren(...slot.cells.map(part => part.cell));
    slot.index = -1;
  }

  function rowAt(index) {
    return pages.get(Math.floor(index / pageSize))?.[index % pageSize];
  }

  function render() {
    if (!element.isConnected || height === 0) return;
    const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
    const end = Math.min(count, Math.ceil((top + height) / rowHeight) + overscan);
    const size = Math.ceil(height / rowHeight) + 2 * overscan + 2;
    while (pool.length < size) {
      const slot = makeRow();
      shape(slot);
      pool.push(slot);
    }
    if (pool.length > size) {
      for (const slot of pool.splice(size)) slot.element.remove();
      for (const slot of pool) slot.index = -1;
    }
    for (let index = first; index < end; index++) fillSlot(pool[index % size], index);
    for (const slot of pool) {
      if (slot.index >= end || slot.index < first) {
        slot.index = -1;
        if (!slot.element.hidden) slot.element.hidden = true;
      }
    }
    markCurrent();
    want(first, end);
  }

  function fillSlot(slot, index) {
    const row = rowAt(index);
    if (slot.index === index && slot.row === row) return;
    if (slot.index !== index) {
      put(slot, index);
      slot.element.setAttribute("aria-rowindex", index + 1);
      slot.element.classList.toggle("odd", index % 2 === 1);
    }
    if (row !== slot.row || row === undefined) {
      slot.element.classList.toggle("waiting", row === undefined);
      for (let i = 0; i < columns.length; i++) {
        if (row === undefined) setText(slot.cells[i].host, "");
        else fill(slot.cells[i].host, row, columns[i]);
      }
    }
    slot.index = index;
    slot.row = row;
    slot.element.hidden = false;
  }

  function markCurrent() {
    let descendant = null;
    for (const slot of pool) {
      if (slot.index < 0) continue;
      const isCurrent = slot.index === current.row;
      const selected = selectedKey !== null && slot.row?.key === selectedKey;
      setAttribute(slot.element, "aria-selected", selected ? "true" : "false");
      slot.element.classList.toggle("current", isCurrent);
      slot.cells.forEach((part, i) => {
        const here = isCurrent && i === current.column;
        if (here) {
          part.cell.id = name + "-current";
          descendant = part.cell.id;
        } else if (part.cell.id) {
          part.cell.removeAttribute("id");
        }
        part.cell.classList.toggle("current", here);
      });
    }
    setAttribute(element, "aria-activedescendant", descendant);
  }

  function setAttribute(target, key, text) {
    if (text === null) target.removeAttribute(key);
    else if (target.getAttribute(key) !== text) target.setAttribute(key, text);
  }

  // Pages

  /** Loads what is seen first, then the page ahead; ends requests for what is no longer near. */
  function want(first, end) {
    if (count === 0) return;
    const seenFrom = Math.floor(Math.max(0, first) / pageSize), seenTo = Math.floor(Math.max(0, end - 1) / pageSize);
    const wanted = [];
    for (let page = seenFrom; page <= seenTo; page++) wanted.push(page);
    const most = Math.floor((count - 1) / pageSize);
    for (const page of direction >= 0 ? [seenTo + 1, seenFrom - 1] : [seenFrom - 1, seenTo + 1]) {
      if (page >= 0 && page <= most) wanted.push(page);
    }
    for (const [page, controller] of loading) {
      if (!wanted.includes(page)) {
        loading.delete(page);
        controller.abort();
      }
    }
    for (const page of wanted) {
      if (pages.has(page) && !isShort(page) || loading.has(page) || loading.size >= parallel) continue;
      fetchPage(page);
    }
    for (const page of pages.keys()) {
      if (pages.size <= keptPages) break;
      if (page < seenFrom - 1 || page > seenTo + 1) pages.delete(page) && counts.delete(page);
    }
  }

  /** Whether the table has become longer since a page was loaded, and has more rows of it. */
  function isShort(page) {
    return counts.get(page) !== count && pages.get(page).length < Math.min(pageSize, count - page * pageSize);
  }

  async function fetchPage(page) {
    const controller = new AbortController();
    const mine = generation, length = count;
    loading.set(page, controller);
    try {
      const rows = await load(page, controller.signal);
      if (mine !== generation || controller.signal.aborted) return;
      loading.delete(page);
      pages.set(page, rows);
      counts.set(page, length);
      render();
    } catch (error) {
      if (loading.get(page) === controller) loading.delete(page);
      if (mine === generation && error.name !== "AbortError") failed?.(error);
    }
  }

  // Keyboard and mouse

  function pressed(event) {
    if (event.target.closest(".grid-head")) return pressedHead(event);
    if (event.ctrlKey && event.key !== "Home" && event.key !== "End" || event.metaKey || event.altKey) return;
    const window = Math.max(1, Math.floor(viewHeight() / rowHeight) - 1);
    const { row, column } = current;
    let next = row;
    switch (event.key) {
    case "ArrowDown": next = row + 1; break;
    case "ArrowUp":
      if (row === 0 && leave) {
        event.preventDefault();
        return leave();
      }
      next = row - 1;
      break;
    case "PageDown": next = row + window; break;
    case "PageUp": next = row - window; break;
    case "Home": next = 0; break;
    case "End": next = count - 1; break;
    case "ArrowRight": case "ArrowLeft":
      event.preventDefault();
      current.column = Math.max(0, Math.min(columns.length - 1, column + (event.key === "ArrowRight" ? 1 : -1)));
      markCurrent();
      element.querySelector(".grid-cell.current")?.scrollIntoView({ block: "nearest", inline: "nearest" });
      return;
    case "Enter": case " ": {
      event.preventDefault();
      const found = rowAt(row);
      if (found) open?.(found, row);
      return;
    }
    default: return;
    }
    event.preventDefault();
    activate(next);
  }

  function pressedHead(event) {
    const cell = event.target.closest("[data-column]");
    if (!cell || !event.altKey || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
    event.preventDefault();
    event.stopPropagation();
    move?.(cell.dataset.column, event.key === "ArrowRight" ? 1 : -1);
  }

  function focusHead(field) {
    head.querySelector(`[data-column="${CSS.escape(field)}"] button`)?.focus({ preventScroll: true });
  }

  function clicked(event) {
    if (event.target.closest(".grid-head") || event.target.closest("a, button")) return;
    const shown = event.target.closest(".grid-row");
    const slot = pool.find(slot => slot.element === shown);
    if (!slot || slot.index < 0 || !slot.row) return;
    if (String(getSelection()) !== "" && element.contains(getSelection().anchorNode)) return;
    const cell = event.target.closest(".grid-cell");
    current = { row: slot.index, column: cell ? slot.cells.findIndex(part => part.cell === cell) : current.column };
    markCurrent();
    element.focus({ preventScroll: true });
    open?.(slot.row, slot.index);
  }

  function activate(row, { quiet = false } = {}) {
    current.row = Math.max(0, Math.min(count - 1, row));
    const from = current.row * rowHeight;
    if (from < top) place(from);
    else if (from + rowHeight > top + viewHeight()) place(from + rowHeight - viewHeight());
    render();
    clearTimeout(idle);
    idle = setTimeout(rested, 160);
    if (!quiet) active?.(rowAt(current.row), current.row);
  }

  // Size

  /** Takes note of the size of the window. Returns whether the rows were drawn for it. */
  function measure() {
    rowHeight = Math.round(parseFloat(getComputedStyle(document.documentElement).fontSize) * 2.125);
    element.style.setProperty("--row", rowHeight + "px");
    const now = element.clientHeight;
    if (now === height && space.style.height) return false;
    height = now;
    resize();
    return true;
  }

  function resize() {
    virtual = count * rowHeight;
    physical = Math.min(virtual, longest);
    space.style.height = physical + "px";
    setAttribute(element, "aria-rowcount", String(count));
    place(top);
    render();
  }

  const observer = new ResizeObserver(measure);
  observer.observe(element);

  return {
    element,
    get count() { return count; },
    get current() { return current.row; },
    get first() { return Math.round(top / rowHeight); },
    row: rowAt,
    /**
     * Other columns: `field`, `title`, `width` (a track of a CSS grid whose least width is in rem), `number`, `code`,
     * `sort` ("ascending", "descending", "none", or null if the column cannot be sorted by).
     */
    setColumns(next) {
      const same = next.length === columns.length && next.every((column, i) => column.field === columns[i].field);
      columns = next;
      element.setAttribute("aria-colcount", columns.length);
      element.style.setProperty("--columns", columns.map(column => column.width).join(" "));
      const least = columns.map(column => /[\d.]+rem/.exec(column.width)[0]);
      element.style.setProperty("--least", `calc(1rem + ${least.join(" + ")})`);
      const focused = head.contains(document.activeElement) ? document.activeElement.parentNode.dataset.column : null;
      replace(head, columns.map((column, i) => h("div.grid-cell" + (column.number ? ".number" : ""), {
        role: "columnheader", "aria-colindex": i + 1, "aria-sort": column.sort, data: { column: column.field },
      }, column.sort ? h("button", { type: "button", onclick: () => sort?.(column.field) }, h("span", {}, column.title))
        : h("button", { type: "button", "aria-disabled": "true" }, h("span", {}, column.title)))));
      if (focused !== null) focusHead(focused);
      current.column = Math.min(current.column, columns.length - 1);
      if (!same) for (const slot of pool) shape(slot);
      render();
    },
    /** Other rows: forgets all pages and goes to `start`. `pages` are rows that are known already. */
    reset({ count: next, rows = null, start = 0, label: text = null }) {
      generation++;
      for (const controller of loading.values()) controller.abort();
      loading.clear();
      pages.clear();
      counts.clear();
      if (rows) {
        pages.set(Math.floor(start / pageSize), rows);
        counts.set(Math.floor(start / pageSize), next);
      }
      for (const slot of pool) slot.index = -1, slot.row = undefined;
      count = next;
      current.row = Math.max(0, Math.min(count - 1, start));
      top = start * rowHeight;
      if (text) element.setAttribute("aria-label", text);
      // Once: to place rows that were just drawn, the browser would lay them out first.
      if (height !== 0 || !measure()) resize();
    },
    /** Another number of rows, as counting goes on; the rows that are shown stay. */
    setCount(next) {
      if (next === count) return;
      count = next;
      resize();
    },
    /** Marks the row whose `key` is given as selected. */
    select(key) {
      selectedKey = key;
      markCurrent();
    },
    activate,
    /** Draws all rows again, because `fill` now gives another result. */
    refresh() {
      for (const slot of pool) slot.index = -1, slot.row = undefined;
      render();
    },
    focus() { element.focus({ preventScroll: true }); },
    close() {
      observer.disconnect();
      clearTimeout(idle);
      cancelAnimationFrame(frame);
      generation++;
      for (const controller of loading.values()) controller.abort();
    },
  };
}
