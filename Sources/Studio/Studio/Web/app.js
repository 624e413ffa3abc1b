// The frame around the pages: which page an address shows, navigation, keyboard, token, theme, language, new commits.

import { h, s, replace } from "./dom.js";
import { createApi, root, segment, takeToken, setToken, textOfSegment } from "./api.js";
import { errorBox, messageOf } from "./errors.js";
import { t, language, chooseLanguage, setLanguage } from "./text.js";
import products from "./pages/products.js";

const themeKey = "shelfmark.theme";
/** The pages in the order of the navigation, with the key after `g` and the path of an icon of 20 × 20. */
const pages = [
  ["home", "h", "M3 9.5 10 3.5l7 6M5 8.5V16h10V8.5"],
  ["products", "p", "M3 5v10M6 5v10M9 5v10M11 5v10M14 5v10M17 5v10"],
  ["scan", "s", "M3 7V4h3M14 4h3v3M17 13v3h-3M6 16H3v-3M3 10h14"],
  ["sets", "e", "M10 3l6.5 3.5L10 10 3.5 6.5zM3.5 10 10 13.5 16.5 10M3.5 13.5 10 17l6.5-3.5"],
  ["history", "i", "M10 6v4l3 2M3.5 10a6.5 6.5 0 1 0 2-4.7L3.5 7M3.5 3.5V7H7"],
  ["documents", "d", "M5 3h7l3 3v11H5zM12 3v3h3M8 10h4M8 13h4"],
  ["queue", "q", "M10 16V7M6.5 10.5 10 7l3.5 3.5M4 4h12"],
  ["cache", "c", "M4 4h12v5H4zM4 11h12v5H4zM7 6.5h.01M7 13.5h.01"],
  ["settings", "t", "M4 6h6M14 6h2M4 14h2M10 14h6M12 4.5v3M8 12.5v3"],
  ["misses", "m", "M10 3.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM7.7 7.7l4.6 4.6M12.3 7.7l-4.6 4.6"],
  ["live", "l", "M3 10h3l2-5 4 10 2-5h3"],
];
const names = new Set(pages.map(page => page[0]));

/** The store as the server last described it; null before that. */
let store = null;
/** The page that is shown: its name, module, handle, view and the controller that ends its requests. */
let shown = null;
/** The commit that the requests of the page are pinned to once the first of them was answered. */
let pinned = null;
/** The newest commit that the server told of, and how many came since `pinned`. */
let news = { sequence: 0, count: 0 };
let events = null;
/** Whether the field for the token is shown. */
let asking = false;
let main, banner, notice, status, heading;

// Views

/** What an address means: the page, the rest of its path (decoded), its parameters, and its commit. */
function viewOf(url) {
  const address = new URL(url, location.origin);
  const segments = address.pathname.slice(root.length).split("/").filter(Boolean).map(textOfSegment);
  const page = segments.shift() ?? "home";
  const at = address.searchParams.get("at");
  return {
    page, path: segments, parameters: address.searchParams, at: at !== null && /^\d+$/.test(at) ? Number(at) : null,
    url: address.pathname + address.search,
  };
}

/**
 * The address of a view: a page, parts of a path, and parameters (null, undefined, "" and false are left out). The
 * commit of the current view goes along unless `parameters` has its own `at`.
 */
function href(page, path = [], parameters = {}) {
  const query = new URLSearchParams();
  const all = "at" in parameters ? parameters : { ...parameters, at: shown?.view.at };
  for (const key in all) {
    const value = all[key];
    if (value !== null && value !== undefined && value !== "" && value !== false) query.append(key, value);
  }
  const text = query.toString();
  return root + [page === "home" ? "" : page, ...path.map(segment)].filter(Boolean).join("/")
    + (text ? "?" + text : "");
}

/** Shows another view. With `replace`, it takes the place of this one in the browser's history. */
function go(url, { replace: instead = false, focus = true } = {}) {
  if (url !== location.pathname + location.search) history[instead ? "replaceState" : "pushState"](null, "", url);
  return show({ focus });
}

/** Puts another address on this view without showing it again. */
function setUrl(url) {
  if (url === location.pathname + location.search) return;
  history.replaceState(history.state, "", url);
  if (shown) shown.view = viewOf(url);
  mark();
}

async function show({ focus = false, again = false } = {}) {
  const view = viewOf(location.href);
  if (shown && !again && shown.view.page === view.page && shown.view.at === view.at && shown.handle?.update) {
    shown.view = view;
    mark();
    if (await shown.handle.update(view) !== false) return;
  }
  shown?.controller.abort();
  shown?.handle?.leave?.();
  asking = false;
  const controller = new AbortController();
  const current = shown = { view, controller, handle: null };
  pinned = view.at;
  news.count = 0;
  delete document.documentElement.dataset.ready;
  mark();
  showNotice();
  replace(main, h("p.loading", {}, t("loading")));
  const api = createApi({
    at: () => current.view.at ?? (current === shown ? pinned : null),
    seen: sequence => { if (current === shown && pinned === null) { pinned = sequence; countNews(); } },
    signal: controller.signal,
  });
  const context = {
    api, t, go, href, setUrl, signal: controller.signal, announce, exports: exportLinks.bind(null, api),
    get store() { return store; },
    get sequence() { return current.view.at ?? pinned; },
    get view() { return current.view; },
    reloadStore: loadStore,
    showAgain: () => show({ again: true }),
    /** Replaces "Loading…" by the page: its heading and what follows. */
    page(title, ...children) {
      document.title = title + " · Shelfmark Studio";
      heading = h("h1", { tabindex: "-1" }, title);
      replace(main, heading, ...children);
    },
    ready() { if (current === shown) document.documentElement.dataset.ready = "true"; },
  };
  try {
    if (!names.has(view.page)) throw new Error(t("notfound"));
    // Products is part of the first modules and does not wait for the store: its rows are asked for at once.
    const page = view.page === "products" ? products
      : (await Promise.all([import(`./pages/${view.page}.js`), store ?? loadStore()]))[0].default;
    if (current !== shown) return;
    document.title = t(page.title) + " · Shelfmark Studio";
    current.handle = await page.show(main, view, context) ?? null;
    if (current !== shown) return current.handle?.leave?.();
    context.ready();
    if (focus && !main.contains(document.activeElement)) (main.querySelector("h1")
      ?? main).focus({ preventScroll: true });
    if (!store) loadStore().catch(() => {});
  } catch (error) {
    if (current !== shown || error.name === "AbortError" || error.status === 401) return;
    if (error.code === "unknownCommit" && view.at === null) return show({ again: true });
    replace(main, h("h1", { tabindex: "-1" }, t(names.has(view.page) ? "nav." + view.page : "error")),
      errorBox(error, () => show({ again: true })));
    document.documentElement.dataset.ready = "true";
  }
}

/** Says a sentence to screen readers without moving the focus. */
function announce(text) {
  status.textContent = text;
}

/** Two links that stream what a view shows: `path` without its extension, such as `products`. */
function exportLinks(api, path, parameters = {}, kinds = ["ndjson", "csv"]) {
  return h("span.exports", {}, h("span.muted", {}, t("export")), kinds.map(kind => {
    const url = api.link(`${path}.${kind}`, parameters);
    const name = `${path.replaceAll("/", "-")}.${kind}`;
    return h("a", { href: url, download: name, onclick: event => {
      event.preventDefault();
      const link = event.currentTarget;
      link.setAttribute("aria-busy", "true");
      api.download(url, name).catch(error => announce(messageOf(error)))
        .finally(() => link.removeAttribute("aria-busy"));
    } }, t("export." + kind));
  }));
}

// Store and new commits

let storeRequest = null;

/** Asks for the store; while a request is under way, all who ask get its answer. */
function loadStore() {
  storeRequest ??= describeStore().finally(() => { storeRequest = null; });
  return storeRequest;
}

async function describeStore() {
  store = await createApi({}).get("store");
  frame();
  listen();
  if (store.sequence > news.sequence) news.sequence = store.sequence;
  countNews();
  return store;
}

/** Listens for commits while the page is visible: a browser has few connections to a server for all its tabs. */
function listen() {
  if (events || document.hidden) return;
  events = new AbortController();
  createApi({}).events("events", (name, data) => {
    if (name === "commit" && typeof data?.sequence === "number") heardCommit(data);
  }, { signal: events.signal });
}

function visibilityChanged() {
  if (document.hidden) {
    events?.abort();
    events = null;
  } else if (store) {
    loadStore().catch(() => {});
  }
}

function heardCommit({ sequence, products, relations }) {
  if (sequence <= news.sequence) return;
  news.sequence = sequence;
  if (store) {
    store.sequence = sequence;
    if (typeof products === "number") store.products = products;
    if (typeof relations === "number") store.relations = relations;
  }
  countNews();
}

function countNews() {
  news.count = shown?.view.at === null && pinned !== null ? Math.max(0, news.sequence - pinned) : 0;
  showNotice();
}

function showNotice() {
  const at = shown?.view.at ?? null;
  replace(banner, at !== null && h("div.notice.at", {},
    h("p", {}, h("strong", {}, t("at", { n: at })), " ", h("span", {}, t("at.text"))),
    h("a.button", { href: withAt(null) }, t("newest"))));
  if (news.count === 0) return replace(notice);
  const words = t("commits.new", { n: news.count });
  if (notice.firstChild) {
    notice.querySelector("strong").textContent = words;
    return;
  }
  replace(notice, h("div.notice.news", {},
    h("strong", {}, words),
    h("button.button.primary", { type: "button", onclick: follow }, t("commits.follow")),
    h("a.button", { href: withAt(pinned) }, t("commits.stay", { n: pinned }))));
}

function follow() {
  loadStore().catch(() => {});
  show({ again: true });
}

/** The address of this view as of a commit; null is the newest. */
function withAt(sequence) {
  const url = new URL(location.href);
  if (sequence === null) url.searchParams.delete("at");
  else url.searchParams.set("at", sequence);
  return url.pathname + url.search;
}

// Frame

function frame() {
  const links = pages.filter(page => page[0] !== "live" || store?.live).map(([name, , icon]) =>
    h("a", { href: href(name), data: { page: name } },
      s("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, s("path", { d: icon })),
        h("span", {}, t("nav." + name))));
  const theme = choice("theme", ["auto", "light", "dark"].map(name => [name, t("theme." + name)]), themeOf(), setTheme);
  const words = choice("language", [["en", "English"], ["zh-CN", "中文"]], language(), tag => {
    setLanguage(tag);
    frame();
    show({ again: true });
  });
  const side = document.querySelector("body > header");
  const focused = side.contains(document.activeElement) ? document.activeElement.id || null : null;
  replace(side,
    h("a.brand", { href: href("home", [], { at: null }) }, s("svg", { viewBox: "0 0 32 32", "aria-hidden": "true" },
      s("path", { d: "M7 8h2v13H7zm4 0h1v13h-1zm3 0h3v13h-3zm5 0h1v13h-1zm3 0h2v13h-2zM6 23h20v2H6z" })),
    h("span", {}, "Shelfmark"), h("span.light", {}, "Studio")),
    h("nav", { "aria-label": t("nav") }, links),
    h("div.choices", {},
      store && h("p.who", {}, h("span.muted", {}, t("user") + " "), h("bdi", {}, store.user),
        h("span.badge", {}, t(store.editable ? "editable" : "readonly"))),
      h("div.row", {}, theme, words, h("button.button.quiet.little", {
        type: "button", id: "help-button", "aria-label": t("help"), title: t("help"), onclick: help,
      }, "?"))));
  if (focused) document.getElementById(focused)?.focus();
  document.querySelector("body > a.skip").textContent = t("skip");
  document.querySelector(".content > aside").setAttribute("aria-label", t("notices"));
  mark();
}

function choice(name, options, current, chose) {
  return h("label.choice", {}, h("span.hidden", {}, t(name)),
    h("select", { id: "choose-" + name, "aria-label": t(name), onchange: event => chose(event.target.value) },
      options.map(([value, text]) => h("option", { value, selected: value === current }, text))));
}

function themeOf() {
  return localStorage.getItem(themeKey) ?? "auto";
}

function setTheme(name) {
  if (name === "auto") localStorage.removeItem(themeKey);
  else localStorage.setItem(themeKey, name);
  applyTheme();
}

function applyTheme() {
  const name = themeOf();
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

/** Marks the current page in the navigation and takes the commit of the view along in its links. */
function mark() {
  for (const link of document.querySelectorAll("nav a[data-page]")) {
    link.href = href(link.dataset.page);
    if (link.dataset.page === shown?.view.page) {
      link.setAttribute("aria-current", "page");
      // In a narrow window the links are one row that scrolls. Its size is asked for when the page is laid out anyway.
      requestAnimationFrame(() => {
        const row = link.parentNode;
        if (row && row.scrollWidth > row.clientWidth) row.scrollLeft = link.offsetLeft - row.clientWidth / 3;
      });
    } else link.removeAttribute("aria-current");
  }
}

/** Shows a field for the token, when the server asked for one. */
function askForToken() {
  if (asking) return;
  asking = true;
  shown?.controller.abort();
  shown?.handle?.leave?.();
  shown = null;
  events?.abort();
  events = null;
  replace(banner);
  replace(notice);
  const field = h("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true });
  document.title = t("token.title") + " · Shelfmark Studio";
  replace(main, h("h1", { tabindex: "-1" }, t("token.title")),
    h("form.token.card", { onsubmit: event => {
      event.preventDefault();
      setToken(field.value.replace(/^.*#t=/, ""));
      show({ focus: true });
    } },
    h("p", {}, t("token.text").split("`").map((part, i) => i % 2 === 1 ? h("code", {}, part) : part)),
    h("label", { for: "token" }, t("token.field")),
    h("div.row", {}, field, h("button.button.primary", { type: "submit" }, t("token.open")))));
  field.focus();
}

// Keyboard

const keys = [
  ["/", "key.search"], ["↑ ↓ PgUp PgDn Home End", "key.move"], ["← →", "key.sideways"], ["Enter", "key.open"],
  ["Esc", "key.close"], ["?", "key.help"],
];

function help() {
  const before = document.activeElement;
  const dialog = h("dialog.help", { "aria-labelledby": "help-title", onclose: () => {
    dialog.remove();
    if (before?.isConnected) before.focus();
  }, onclick: event => { if (event.target === dialog) dialog.close(); } },
  h("div.row.between", {}, h("h2", { id: "help-title" }, t("help")),
    h("button.button.quiet", { type: "button", "aria-label": t("close"), onclick: () => dialog.close() }, "✕")),
  h("dl.keys", {}, keys.map(([key, text]) => [h("dt", {}, key.split(" ").map(one => h("kbd", {}, one))),
    h("dd", {}, t(text))]),
    pages.filter(page => page[0] !== "live" || store?.live).map(([name, key]) =>
      [h("dt", {}, h("kbd", {}, "g"), h("kbd", {}, key)), h("dd", {}, t("nav." + name))])));
  document.body.append(dialog);
  dialog.showModal();
}

let leader = 0;
function keydown(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target;
  if (target.closest("input, textarea, select, [contenteditable], dialog")) return;
  if (event.key === "/") {
    const field = main.querySelector('input[type="search"]');
    event.preventDefault();
    if (field) {
      field.focus();
      field.select();
    } else {
      go(href("products"), { focus: false }).then(() => main.querySelector('input[type="search"]')?.focus());
    }
  } else if (event.key === "?") {
    event.preventDefault();
    help();
  } else if (event.timeStamp - leader < 1500) {
    leader = 0;
    const page = pages.find(([name, key]) => key === event.key && (name !== "live" || store?.live));
    if (page) {
      event.preventDefault();
      go(href(page[0]));
    }
  } else if (event.key === "g") {
    leader = event.timeStamp;
  }
}

function clicked(event) {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey
    || event.altKey) return;
  const link = event.target.closest("a[href]");
  if (!link || link.target || link.download || link.origin !== location.origin) return;
  if (!(link.pathname + "/").startsWith(root) || link.pathname.startsWith(root + "api/")) return;
  if (link.hash) return;
  event.preventDefault();
  go(link.pathname + link.search);
}

function start() {
  takeToken();
  chooseLanguage();
  applyTheme();
  // Its address is relative to that of the page, which changes with each view.
  const icon = document.querySelector('link[rel="icon"]');
  icon.href = icon.href;
  main = h("main", { id: "main", tabindex: "-1" });
  banner = h("div.banner", { role: "status" });
  notice = h("div.banner", { role: "status" });
  status = h("div.hidden", { role: "status", "aria-live": "polite" });
  replace(document.body,
    h("a.skip", { href: "#main", onclick: event => { event.preventDefault(); main.focus(); } }, t("skip")),
    h("header", {}), h("div.content", {}, h("aside", {}, banner, notice, status), main));
  show();
  frame();
  addEventListener("popstate", () => show({ focus: true }));
  addEventListener("hashchange", () => {
    if (!location.hash.startsWith("#t=")) return;
    takeToken();
    show({ again: true });
  });
  addEventListener("studio:unauthorized", () => { setToken(null); askForToken(); });
  document.addEventListener("visibilitychange", visibilityChanged);
  document.addEventListener("keydown", keydown);
  document.addEventListener("click", clicked);
}

start();
