// Products: all rows in a virtual table, with search, filters, columns and the panel of one product.

import { h, value, marked, replace, setText, shown } from "../dom.js";
import { createGrid, pageSize } from "../grid.js";
import { createPanel } from "../panel.js";
import { keepsDigits } from "../api.js";
import { pending } from "./parts.js";
import { number, ago } from "../format.js";
import { cellContent, columnNames, defaultColumns, fieldColumn, fieldText, fieldTitle, hasWords, isColumn,
  isOwn, ownName } from "../fields.js";
import { language } from "../text.js";
import { errorBox } from "../errors.js";

const filterNames = ["brand", "category", "set", "deleted", "codes", "since", "where"];
/** A view of at most so many rows can be sorted by any field. */
const sortable = 100_000;
/** Until the store was described: the orders of a store with all indexes. */
const usualOrders = ["id", "barcode", "name", "category", "brand", "updateTime"];
/** Results that are shown at most; nobody reads that far, and each page needs the one before it. */
const mostResults = 10_000;
/** What results were taken for is listed for so many different words. */
const mostMeanings = 3;

/** What the table shows, as the address says it. */
function stateOf(view) {
  const get = name => view.parameters.get(name) ?? "";
  const columns = get("columns").split(",").filter(isColumn);
  const names = [...filterNames, ...[...view.parameters.keys()].filter(isOwn)];
  const filters = Object.fromEntries(names.map(name => [name, get(name)]).filter(pair => pair[1] !== ""));
  return {
    id: view.path[0] ?? null, q: get("q"), sort: get("sort") || "id", descending: get("descending") === "true", filters,
    columns: columns.length > 0 ? [...new Set(columns)] : defaultColumns,
    row: /^\d+$/.test(get("row")) ? Number(get("row")) : null,
  };
}

async function show(main, view, context) {
  const { api, t } = context;
  let state = stateOf(view);
  let request = new AbortController();
  /** The cursor of each page of search results that is known to exist, and how many results are known. */
  let cursors = [], known = 0;
  /** What the first page of results says of corrected mistakes. */
  let meant = "";
  let poll = 0, later = 0;
  /** Whether the server is still finding rows of the table. */
  let isCounting = false;
  let facetsFor = null, facetRequest = null, facetDelay = 0;
  /** The groups of filters with their counts that are shown. */
  let drawn = [[], []];

  // Addresses

  function parameters(next) {
    const own = next.columns.join() === defaultColumns.join() ? null : next.columns.join();
    return {
      q: next.q, sort: next.sort === "id" ? null : next.sort, descending: next.descending, ...next.filters,
        columns: own,
      row: next.q === "" ? next.row || null : null,
    };
  }

  function link(change) {
    const next = { ...state, ...change };
    return context.href("products", next.id === null ? [] : [next.id], parameters(next));
  }

  function go(change) {
    context.go(link(change), { focus: false });
  }

  /** Puts what changed into the address without a new entry in the browser's history, at most a few times a second. */
  function note() {
    clearTimeout(later);
    later = setTimeout(() => context.setUrl(link({})), 200);
  }

  // Parts

  const field = h("input", {
    type: "search", id: "search", placeholder: t("products.search"), "aria-label": t("products.search"), value: state.q,
    autocapitalize: "off", spellcheck: "false", enterkeyhint: "search", oninput: typed,
    onkeydown: event => {
      if (event.key === "ArrowDown" && grid.count > 0) {
        event.preventDefault();
        grid.focus();
        grid.activate(grid.current, { quiet: true });
      } else if (event.key === "Enter" && !event.isComposing && state.q !== "" && grid.row(0)) {
        open(grid.row(0), 0, true);
      } else if (event.key === "Escape" && panel.id !== null) {
        event.preventDefault();
        closePanel();
      }
    },
  });
  const counted = h("p.count", { role: "status" });
  const chips = h("div.chips", {});
  const exports = h("span", {});
  const problem = h("div", {});
  const blank = h("p.blank", { hidden: true });
  // The condition is not drawn again with the counts, so that they do not take away what somebody types.
  const condition = h("input.mono", { id: "filter-where", placeholder: "weight > 500", autocomplete: "off",
    spellcheck: "false", value: state.filters.where ?? "" });
  const since = h("div.facet-group"), lists = h("div.facet-lists");
  const facets = h("div.facets", { id: "facets" }, since, h("form.facet-group", { onsubmit: event => {
    event.preventDefault();
    setFilter("where", condition.value.trim());
  } }, h("label.label", { for: condition.id }, t("filter.where")), condition), lists);
  const facetButton = h("button.button", {
    type: "button", "aria-expanded": "true", "aria-controls": "facets", onclick: () => showFacets(facets.hidden),
  }, t("products.filters"));
  const chooser = h("div.chooser", { id: "chooser", hidden: true, onkeydown: event => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    showChooser(false);
  } });
  const chooserButton = h("button.button", {
    type: "button", "aria-expanded": "false", "aria-controls": "chooser", onclick: () => showChooser(chooser.hidden),
  }, t("products.columns"));

  const newPlace = h("span", {}), pendingPlace = h("div", {});
  const panel = createPanel(context, closePanel);
  const grid = createGrid({
    label: t("nav.products"), load, fill, sort: sortBy, move, open: (row, index) => open(row, index),
    active(row) {
      if (panel.id === null || !row || row.key === panel.id) return;
      state.id = row.key;
      grid.select(row.key);
      panel.show(row.key, row.product);
      note();
    },
    leave() { field.focus(); },
    rest(index) {
      state.row = index;
      note();
    },
    failed(error) {
      if (error.code === "unknownCommit" && context.view.at === null) context.showAgain();
      else replace(problem, errorBox(error, () => { replace(problem); grid.refresh(); }));
    },
  });
  grid.element.addEventListener("keydown", event => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    if (panel.id !== null) closePanel();
    else field.focus();
    event.preventDefault();
  });

  context.page(t("nav.products"),
    h("div.toolbar.products-bar", {}, field, counted, h("span.spring", {}), facetButton,
      h("div.anchor", {}, chooserButton, chooser), newPlace, exports), pendingPlace,
    chips, problem, h("div.workspace", {}, facets, h("div.table", {}, grid.element, blank), panel.element));
  main.classList.add("fill");
  main.querySelector("h1").classList.add("hidden");
  let facetsWanted = matchMedia("(min-width: 64rem)").matches;

  // Rows

  function toRow(product, matched) {
    const ranges = matched && Object.fromEntries(matched.map(one => [one.field, one.ranges]));
    return { key: product.id, product, ranges };
  }

  /** What the results were taken for, if they rest on corrected mistakes; "" otherwise. */
  function meaning(results) {
    const all = [...new Set(results.flatMap(one => one.meant ?? []))];
    if (all.length === 0) return "";
    const text = all.slice(0, mostMeanings).join(", ") + (all.length > mostMeanings ? " …" : "");
    return " · " + t("products.meant", { text });
  }

  function fill(host, row, column) {
    const content = cellContent(row.product, column.field);
    const ranges = row.ranges?.[column.field];
    if (ranges) host.replaceChildren(...marked(String(content ?? ""), ranges).childNodes);
    else setText(host, column.flag ? (content === true ? "✓" : "") : shown(fieldText(content)));
  }

  async function load(page, signal) {
    if (state.q !== "") {
      const cursor = cursors[page];
      if (cursor === undefined || cursor === null) return [];
      const answer = await api.get("search", { q: state.q, limit: pageSize, after: cursor,
        columns: state.columns.join(), ...state.filters }, { signal });
      grid.setCount(found(page, answer));
      return answer.results.map(one => toRow(one.product, one.matched));
    }
    const answer = await ask(page * pageSize, signal);
    if (typeof answer.count === "number") setCount(answer.count);
    return answer.rows.map(product => toRow(product));
  }

  /** A page of the table. While its rows are being found, asks again; the first page may be empty until then. */
  async function ask(offset, signal) {
    for (;;) {
      const answer = await api.get("products", { ...query(), offset, limit: pageSize }, { signal });
      if (offset === 0 || answer.rows.length > 0 || answer.count !== null) return answer;
      sayCounting(answer.found);
    }
  }

  function query() {
    return { sort: state.sort === "id" ? null : state.sort, descending: state.descending, collation: collation(),
      columns: state.columns.join(), ...state.filters };
  }

  /** Words are in the order of a Chinese dictionary if the page is Chinese. */
  function collation() {
    return language().startsWith("zh") && hasWords(state.sort) ? "pinyin" : null;
  }

  /** Takes note of a page of results and the cursor of the next one. Returns how many rows the table has now. */
  function found(page, { results, next }) {
    const end = page * pageSize + results.length;
    if (next !== null && results.length === pageSize && end < mostResults) cursors[page + 1] = next;
    known = Math.max(known, end);
    const more = cursors.length > Math.max(1, Math.ceil(known / pageSize));
    if (page === 0) meant = meaning(results);
    say(t(more ? "products.resultsMore" : "products.results", { n: known }) + meant);
    // One row more stands for the next page, so that scrolling to it loads that page.
    return known + (more ? 1 : 0);
  }

  function setCount(count) {
    grid.setCount(count);
    say(t("products.count", { n: count }));
  }

  /** Tells how many rows have been found. A screen reader waits for the last number. */
  function sayCounting(n) {
    counted.setAttribute("aria-busy", "true");
    counted.textContent = t("products.counting", { n });
  }

  function say(text) {
    counted.removeAttribute("aria-busy");
    if (counted.textContent !== text) counted.textContent = text;
  }

  /** Shows rows for the state: the first page of a search or of the table. */
  async function reload() {
    request.abort();
    request = new AbortController();
    const { signal } = request;
    clearTimeout(poll);
    isCounting = false;
    drawBar();
    try {
      if (state.q !== "") {
        const answer = await api.get("search", { q: state.q, limit: pageSize, columns: state.columns.join(),
          ...state.filters }, { signal });
        cursors = [null];
        known = 0;
        const rows = answer.results.map(one => toRow(one.product, one.matched));
        grid.reset({ count: found(0, answer), rows });
      } else {
        let start = state.row ?? 0;
        if (state.row === null && state.id !== null) {
          const { offset } = await api.get("position", { ...query(), columns: null, id: state.id }, { signal });
          start = Math.max(0, (offset ?? 0) - 3);
        }
        const first = Math.floor(start / pageSize) * pageSize;
        const answer = await ask(first, signal);
        const rows = answer.rows.map(product => toRow(product));
        const length = answer.count ?? answer.found;
        grid.reset({ count: length, rows, start: Math.min(start, Math.max(0, length - 1)) });
        isCounting = answer.count === null;
        if (isCounting) {
          sayCounting(length);
          poll = setTimeout(() => count(signal), 100);
        } else {
          say(t("products.count", { n: length }));
        }
      }
      replace(problem);
      setColumns();
      showEmpty();
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.code === "unknownCommit") throw error;
      grid.reset({ count: 0 });
      blank.hidden = true;
      say("");
      replace(problem, errorBox(error, reload));
    }
    if (state.id !== null) openPanel(state.id);
    grid.select(state.id);
  }

  async function count(signal) {
    try {
      const answer = await api.get("products", { ...query(), columns: "id", offset: 0, limit: 1 }, { signal });
      if (signal.aborted) return;
      isCounting = answer.count === null;
      if (isCounting) {
        grid.setCount(answer.found);
        sayCounting(answer.found);
        poll = setTimeout(() => count(signal), 150);
      } else {
        setCount(answer.count);
        setColumns();
        loadFacets();
      }
      showEmpty();
    } catch (error) {
      if (error.name === "AbortError") return;
      isCounting = false;
      say("");
      replace(problem, errorBox(error, reload));
    }
  }

  function showEmpty() {
    blank.hidden = grid.count > 0 || isCounting;
    blank.textContent = t(state.q !== "" ? "products.noResults" : "products.none");
  }

  function typed() {
    const text = field.value;
    const was = state.q;
    if (text.trim() === was) return;
    state = { ...state, q: text.trim(), row: null };
    note();
    reload();
    // The counts wait until nobody types: results come first.
    clearTimeout(facetDelay);
    facetDelay = setTimeout(loadFacets, 400);
    if ((was === "") !== (state.q === "")) setColumns();
  }

  // Order and columns

  function setColumns() {
    const own = (context.store?.fields ?? []).filter(one => one.ordered).map(one => ownName(one.name));
    const orders = [...context.store?.orders ?? usualOrders, ...own];
    grid.setColumns(state.columns.map(name => ({
      ...fieldColumn(name, context.store),
      sort: state.q !== "" || name === "codes" || !(orders.includes(name) || (grid.count > 0 && grid.count <= sortable)) ? null
        : state.sort === name ? (state.descending ? "descending" : "ascending") : "none",
    })));
  }

  /** Ascending, descending, and back to the order by id. */
  function sortBy(name) {
    if (state.sort !== name) go({ sort: name, descending: false, row: null });
    else if (!state.descending) go({ descending: true, row: null });
    else go({ sort: "id", descending: false, row: null });
  }

  function move(name, by) {
    const columns = [...state.columns];
    const from = columns.indexOf(name), to = from + by;
    if (from < 0 || to < 0 || to >= columns.length) return;
    columns.splice(from, 1);
    columns.splice(to, 0, name);
    state = { ...state, columns };
    note();
    setColumns();
    grid.refresh();
    context.announce(t("products.moved", { name: fieldTitle(name), n: to + 1 }));
    if (!chooser.hidden) drawChooser(name, by);
  }

  function toggleColumn(name, wanted) {
    const columns = wanted ? [...state.columns, name] : state.columns.filter(one => one !== name);
    if (columns.length === 0) return drawChooser(name);
    state = { ...state, columns };
    note();
    setColumns();
    state.row = grid.first;
    reload();
    drawChooser(name);
  }

  function showChooser(wanted) {
    chooser.hidden = !wanted;
    chooserButton.setAttribute("aria-expanded", String(wanted));
    if (wanted) {
      drawChooser();
      chooser.querySelector("input").focus();
    } else if (chooser.contains(document.activeElement) || document.activeElement === document.body) {
      chooserButton.focus();
    }
  }

  function drawChooser(focusOn = null, by = 0) {
    const others = columnNames(context.store).filter(name => !state.columns.includes(name));
    replace(chooser, h("ul", { "aria-label": t("products.columns") }, [...state.columns,
      ...others].map((name, i) => h("li", { data: { name } },
      h("label.row", {}, h("input", { type: "checkbox", checked: i < state.columns.length,
        onchange: event => toggleColumn(name, event.target.checked) }), fieldTitle(name)),
      i < state.columns.length && h("span.moves", {}, [["↑", -1, "products.up"],
        ["↓", 1, "products.down"]].map(([sign, step, key]) =>
        h("button.button.quiet.little", { type: "button", "aria-label": t(key, { name: fieldTitle(name) }),
          data: { step },
          disabled: i + step < 0 || i + step >= state.columns.length, onclick: () => move(name, step) }, sign)))))),
    h("button.button.little", { type: "button", onclick: () => {
      state = { ...state, columns: defaultColumns };
      note();
      setColumns();
      reload();
      drawChooser();
    } }, t("products.usual")));
    if (focusOn === null) return;
    const item = chooser.querySelector(`li[data-name="${focusOn}"]`);
    (item?.querySelector(`button[data-step="${by}"]:not(:disabled)`) ?? item?.querySelector("input"))?.focus();
  }

  // Filters

  function filterTitle(name) {
    return isOwn(name) ? fieldTitle(name) : t("filter." + name);
  }

  function filterText(name, content) {
    if (name === "set") return t("products.sets");
    if (name === "deleted") return t(content === "true" ? "products.deleted" : "products.current");
    if (name === "codes") return t(content === "true" ? "products.withCodes" : "products.withoutCodes");
    if (name === "since") return t("products.sinceChip", { n: Number(content) });
    return null;
  }

  function setFilter(name, content) {
    const filters = { ...state.filters };
    if (content === null || content === "") delete filters[name];
    else filters[name] = content;
    go({ filters, row: null });
  }

  function drawBar() {
    replace(chips, Object.entries(state.filters).map(([name, content]) => h("button.chip", {
      type: "button", "aria-label": t("products.remove", { name: filterText(name, content)
        ?? `${filterTitle(name)}: ${content}` }),
      onclick: () => setFilter(name, null),
    }, filterText(name, content) ?? [h("span", {}, filterTitle(name) + ":"), value(content)],
      h("span", { "aria-hidden": "true" }, "✕"))));
    chips.hidden = chips.childNodes.length === 0;
    replace(exports, context.exports("products", { q: state.q, ...query(),
      columns: state.columns.join() === defaultColumns.join() ? null : state.columns.join() }));
  }

  function showFacets(wanted) {
    facetsWanted = wanted;
    facets.hidden = !wanted;
    facetButton.setAttribute("aria-expanded", String(wanted));
    if (wanted) loadFacets();
  }

  async function loadFacets() {
    const key = JSON.stringify([state.q, state.filters]);
    if (facets.hidden || facetsFor === key) return;
    if (!since.firstChild || isCounting) drawFacets(...drawn);
    // Counting reads every row: the rows of the table come first.
    if (isCounting) return;
    facetsFor = key;
    facetRequest?.abort();
    const mine = facetRequest = new AbortController();
    const groups = [["isSet", "set"], ["delFlag", "deleted"], ["category", "category"], ["brand", "brand"]];
    // A catalogue without codes has nothing to filter by.
    if (context.store?.codes > 0) groups.splice(2, 0, ["hasCodes", "codes"]);
    // Few products have the same code, number or date.
    for (const one of context.store?.fields ?? []) {
      if (!one.code && ["text", "bool"].includes(one.type)) groups.push([ownName(one.name), ownName(one.name)]);
    }
    const without = name => Object.fromEntries(Object.entries(state.filters).filter(pair => pair[0] !== name));
    try {
      // One after another: counting reads every row, and the server has rows of the table to answer in between.
      const answers = [];
      for (const [name, filter] of groups) {
        const parameters = { field: name, limit: 50, q: state.q || null, ...without(filter) };
        answers.push(await api.get("facets", parameters, { signal: mine.signal }));
      }
      drawFacets(groups, answers);
    } catch (error) {
      if (error.name === "AbortError") return;
      // A bad condition and an unknown commit are told above the table already.
      facetsFor = null;
      drawFacets([], []);
      if (error.status !== 400 && error.code !== "unknownEarlierCommit") lists.append(errorBox(error, loadFacets));
    }
  }

  /** One button of a filter, named "value count". */
  function facet(filter, content, text, n) {
    const on = state.filters[filter] === content;
    return h("li", {}, h("button.facet", {
      type: "button", "aria-pressed": String(on), "aria-label": `${text} ${n}`,
        onclick: () => setFilter(filter, on ? null : content),
    }, value(text), " ", h("span.muted", {}, number(n))));
  }

  function drawFacets(groups, answers) {
    drawn = [groups, answers];
    const focused = facets.contains(document.activeElement)
      ? document.activeElement.id || document.activeElement.getAttribute("aria-label")?.replace(/ \d+$/, "") : null;
    const counts = groups.map(([, filter], i) => {
      let items;
      const values = answers[i].values;
      if (filter === "set") {
        items = values.filter(one => String(one.value) === "true").map(one => facet("set", "true", t("products.sets"),
          one.count));
      } else if (filter === "deleted") {
        const sum = test => values.filter(test).reduce((total, one) => total + one.count, 0);
        const isCurrent = one => String(one.value) === "0" || String(one.value) === "false";
        items = [facet("deleted", "false", t("products.current"), sum(isCurrent)),
          facet("deleted", "true", t("products.deleted"), sum(one => !isCurrent(one)))].filter((_, k) => k === 0
            || values.some(one => !isCurrent(one)));
      } else if (filter === "codes") {
        items = values.map(one => facet("codes", one.value,
          t(one.value === "true" ? "products.withCodes" : "products.withoutCodes"), one.count));
      } else {
        items = values.filter(one => one.value !== "" && one.value !== null).map(one => facet(filter,
          String(one.value), isOwn(filter) && ["true", "false"].includes(one.value)
            ? t(one.value === "true" ? "yes" : "no") : String(one.value), one.count));
      }
      if (items.length === 0) return null;
      return h("div.facet-group", {}, h("h2.label", { id: "facet-" + filter }, filterTitle(filter)),
        h("ul", { "aria-labelledby": "facet-" + filter }, items), answers[i].complete === false
          && h("p.tiny.muted", {}, t("products.partial")));
    });
    const from = state.filters.since;
    const commits = (context.store?.commits ?? []).slice(1);
    const known = commits.some(one => String(one.sequence) === from);
    replace(since, h("label.label", { for: "filter-since" }, t("filter.since")), h("select", { id: "filter-since", onchange: event => setFilter("since", event.target.value) },
      h("option", { value: "" }, t("products.anyTime")),
      from && !known && h("option", { value: from, selected: true }, t("commit", { n: Number(from) })),
      commits.map(one => h("option", { value: one.sequence, selected: String(one.sequence) === from },
        `${t("commit", { n: one.sequence })} · ${ago(one.time)}`))));
    replace(lists, counts);
    if (focused !== null) {
      const again = document.getElementById(focused)
        ?? [...facets.querySelectorAll("button.facet")].find(one => one.getAttribute("aria-label").replace(/ \d+$/,
          "") === focused);
      again?.focus();
    }
  }

  // Panel

  function open(row, index, withFocus = document.activeElement === grid.element && lastKey) {
    state.row = grid.first;
    go({ id: row.key, row: grid.first });
    if (withFocus) panel.focus();
  }

  function openPanel(id) {
    const index = grid.current;
    const known = [grid.row(index), grid.row(0)].find(row => row?.key === id);
    panel.show(id, known?.product);
    grid.select(id);
  }

  function closePanel() {
    const inside = panel.element.contains(document.activeElement);
    panel.hide();
    grid.select(null);
    go({ id: null, row: grid.first });
    if (inside || document.activeElement === document.body) grid.focus();
  }

  /** Whether the last thing a person did was to press a key: then opening moves the focus into the panel. */
  let lastKey = false;
  main.addEventListener("keydown", () => { lastKey = true; }, { capture: true, signal: context.signal });
  main.addEventListener("pointerdown", event => {
    lastKey = false;
    if (!chooser.hidden && !chooser.parentNode.contains(event.target)) showChooser(false);
  }, { capture: true, signal: context.signal });

  facets.hidden = true;
  facetButton.setAttribute("aria-expanded", String(facetsWanted));
  setColumns();
  await reload();
  context.ready();
  /** Allows changes: of the newest commit, and of a catalogue that comes from here. */
  function allowEdits() {
    if (!context.store.productsEditable || !keepsDigits || context.view.at !== null) return;
    let removed = [];
    const edits = pending(context, "products", changes => {
      removed = changes.filter(({ after }) => after === undefined).map(({ id }) => id);
      return context.api.send("POST", "products", {
        changes: changes.map(change => {
          const [before, after] = [change.before, change.after].map(withoutCodes);
          const hasCodes = JSON.stringify(before?.codes) !== JSON.stringify(after?.codes) && after !== undefined;
          return { id: change.id, row: after && JSON.stringify(after.product),
            before: before && JSON.stringify(before.product), isNew: before === undefined,
            ...(hasCodes ? { codes: after.codes, codesBefore: before?.codes } : {}) };
        }),
      });
    }, () => {
      if (removed.includes(panel.id)) closePanel();
      context.showAgain();
    });
    replace(pendingPlace, edits.element);
    replace(newPlace, h("button.button", { type: "button", onclick: () => panel.create() }, t("products.new")));
    panel.allow(edits);
  }
  const settle = () => {
    setColumns();
    allowEdits();
    if (facetsWanted) showFacets(true);
  };
  if (context.store) settle();
  else context.reloadStore().then(settle, () => {});

  return {
    async update(next) {
      const before = state;
      state = stateOf(next);
      const same = before.q === state.q && before.sort === state.sort && before.descending === state.descending
        && JSON.stringify(before.filters) === JSON.stringify(state.filters)
          && before.columns.join() === state.columns.join();
      if (field.value.trim() !== state.q) field.value = state.q;
      if (before.filters.where !== state.filters.where) condition.value = state.filters.where ?? "";
      if (!same) {
        setColumns();
        await reload();
        loadFacets();
      }
      if (state.id === null && panel.id !== null) {
        if (panel.element.contains(document.activeElement)) grid.focus();
        panel.hide();
        grid.select(null);
      } else if (state.id !== null && state.id !== panel.id) {
        openPanel(state.id);
      }
    },
    leave() {
      clearTimeout(poll);
      clearTimeout(later);
      clearTimeout(facetDelay);
      request.abort();
      facetRequest?.abort();
      panel.hide();
      grid.close();
      main.classList.remove("fill");
    },
  };
}

/** A product without its codes, and these with their quantities as texts, so that all digits stay. */
function withoutCodes(product) {
  if (product === undefined) return undefined;
  const { codes = [], ...rest } = product;
  return { product: rest, codes: codes.map(one => ({ ...one, quantity: String(one.quantity) })) };
}

export default { title: "nav.products", show };
