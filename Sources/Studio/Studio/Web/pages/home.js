// Home: what the store holds, its commits, files, indexes, health and problems.

import { h, s, value, replace } from "../dom.js";
import { number, bytes, share, time, ago } from "../format.js";
import { errorBox } from "../errors.js";
import { clip, code, table } from "./parts.js";

async function show(main, view, context) {
  const { t, api } = context;
  // The store as of the commit of the view; for the newest, what the frame has just loaded.
  const store = view.at === null ? await context.reloadStore() : await api.get("store");

  const stat = (key, content, kind = "") => h("dl.stat", {}, h("dt", {}, t(key)), h("dd" + kind, {}, content));
  const barcodes = h("section.card.wide", { "aria-labelledby": "barcodes", hidden: true });
  const slow = { sets: h("span", {}, "…"), danglingComponents: h("span", {}, "…"),
    deletedProducts: h("span", {}, "…") };

  context.page(t("nav.home"),
    h("div.head", {}, h("span"), context.exports("store")),
    store.problems.length > 0 && h("section.card.wide.problems", { "aria-labelledby": "problems" },
      h("h2", { id: "problems" }, t("home.problems")),
      h("ul.list", {}, store.problems.map(one => h("li.row", {}, h("span.badge.bad", {}, value(one.code)),
        value(one.message))))),
    h("div.cards.home", {},
      h("section.card.wide", { "aria-label": t("nav.home") },
        h("div.stats", {},
          stat("home.products", number(store.products), ".huge"),
          stat("home.relations", number(store.relations), ".huge"),
          store.codes > 0 && stat("home.codes", number(store.codes), ".huge"),
          stat("home.sets", slow.sets, ".huge"),
          stat("home.updated", h("span", { title: time(store.updatedAt) }, ago(store.updatedAt))),
          stat("home.commit", number(store.sequence)),
          stat("home.generation", number(store.generation)),
          stat("home.dangling", slow.danglingComponents),
          stat("home.deleted", slow.deletedProducts)),
        h("p.small.muted", {}, t("home.cursor"), " ",
          store.cursor ? h("bdi.mono", {}, store.cursor) : t("home.cursor.none"),
          " · ", value(store.program), " ", value(store.version))),
      commits(store, context), barcodes, health(context), files(store, t), indexes(store, t)));

  // What is the matter with barcodes is counted by reading every product, so the page does not wait for it.
  if (store.products > 0) api.get("barcodes").then(answer => drawBarcodes(barcodes, answer, context), () => {});

  api.get("statistics").then(answer => {
    for (const name in slow) slow[name].textContent = number(answer[name]);
  }, error => {
    if (error.name !== "AbortError") for (const name in slow) slow[name].textContent = "–";
  });
}

/** How many products have what the matter with their barcodes, with the first of each, and what mends it. */
function drawBarcodes(card, { barcodes, first }, { t, href }) {
  replace(card, h("h2", { id: "barcodes" }, t("home.barcodes")),
    h("p.small.muted", {}, t("home.barcodes.text")),
    table(t("home.barcodes"), [t("home.barcodes.kind"), [t("home.barcodes.count")], t("home.barcodes.first"),
      t("home.barcodes.mend")],
      Object.entries(barcodes).filter(([, count]) => count > 0).map(([kind, count]) => h("tr", {},
        h("th", { scope: "row" }, t("home.barcodes." + (kind === "text" ? "text.kind" : kind))),
        h("td.number", {}, number(count)),
        h("td", {}, h("a", { href: href("products", [first[kind].id]) },
          first[kind].barcode ? code(clip(first[kind].barcode, 40)) : value(clip(first[kind].id, 40)))),
        h("td", {}, t("home.barcodes.mend." + kind))))));
  card.hidden = false;
}

/** Rows that each of the latest commits wrote, as bars on a scale of square roots, so that a full update hides none. */
function commits(store, { t, href }) {
  const list = [...store.commits].reverse();
  const rows = one => (one.products?.upserted ?? 0) + (one.products?.deleted ?? 0)
    + (one.relations?.written ?? 0) + (one.relations?.deleted ?? 0)
    + (one.codes?.written ?? 0) + (one.codes?.deleted ?? 0);
  const most = Math.max(1, ...list.map(rows));
  // As wide as the usual number of commits, so that a few are not drawn as blocks.
  const width = 600, tall = 72, slots = Math.max(list.length, 30), step = width / slots;
  return h("section.card.wide", { "aria-labelledby": "commits" },
    h("div.head", {}, h("h2", { id: "commits" }, t("home.commits")), h("a.small", { href: href("history") },
      t("nav.history"))),
    list.length > 0 && s("svg.spark", {
      viewBox: `0 0 ${width} ${tall}`, preserveAspectRatio: "none", role: "img",
      "aria-label": t("home.commits.text", { n: list.length, most, last: store.sequence }),
    }, list.map((one, i) => {
      const high = Math.max(2, Math.sqrt(rows(one) / most) * (tall - 4));
      return s("rect" + (one.mode === "full" ? ".full" : ""), { x: i * step + step * .12, width: step * .76,
        y: tall - high, height: high },
        s("title", {}, `${t("home.commits.rows", { n: one.sequence, rows: rows(one) })} · ${time(one.time)}`));
    })),
    h("p.small.muted", {}, t("home.commits.text", { n: list.length, most, last: store.sequence })));
}

function files(store, t) {
  const other = Math.max(0, store.fileBytes - store.liveBytes - store.deadBytes);
  const part = (n, kind) => h("span" + kind, { style: { width: `${n / Math.max(1, store.fileBytes) * 100}%` } });
  const key = (name, n, kind) => h("span.key", {}, h("i" + kind, { "aria-hidden": "true" }), t(name), " ",
    h("strong", {}, bytes(n)));
  return h("section.card", { "aria-labelledby": "files" },
    h("div.head", {}, h("h2", { id: "files" }, t("home.files")), h("strong", {}, bytes(store.fileBytes))),
    h("div.bar", { role: "img", "aria-label": t("home.share", { share: share(store.deadBytes, store.fileBytes) }) },
      part(store.liveBytes, ""), part(other, ".other"), part(store.deadBytes, ".dead")),
    h("p.row.small", {}, key("home.live", store.liveBytes, ""), key("home.other", other, ".other"),
      key("home.dead", store.deadBytes, ".dead")),
    store.deadBytes > store.fileBytes / 5 && h("p.small.muted", {}, t("home.share",
      { share: share(store.deadBytes, store.fileBytes) })),
    h("table.data", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("home.file")), h("th", { scope: "col" }, t("home.role")),
        h("th.number", { scope: "col" }, t("home.size")))),
      h("tbody", {}, store.files.map(one => h("tr", {}, h("td.mono", {}, value(one.name)), h("td", {}, value(one.role)),
        h("td.number", {}, bytes(one.bytes)))))));
}

function indexes(store, t) {
  return h("section.card", { "aria-labelledby": "indexes" },
    h("h2", { id: "indexes" }, t("home.indexes")),
    h("table.data", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("home.index")), h("th", { scope: "col" }, t("home.kind")),
        h("th.number", { scope: "col" }, t("home.entries")), h("th.number", { scope: "col" }, t("home.size")))),
      h("tbody", {}, store.indexes.map(one => h("tr", {}, h("td.mono", {}, value(one.name)),
        h("td", {}, value(one.kind)),
        h("td.number", {}, number(one.entries)), h("td.number", {}, bytes(one.bytes)))))));
}

function health({ api, t }) {
  const result = h("div.stack", { role: "status" });
  let running = null;
  const button = h("button.button.primary", { type: "button", onclick: () => running ? stop() : run() },
    t("home.verify"));

  function stop() {
    running.abort();
    replace(result);
    ended();
  }

  function ended() {
    running = null;
    button.textContent = t("home.verify");
    button.classList.add("primary");
  }

  async function run() {
    const mine = running = new AbortController();
    button.textContent = t("home.stop");
    button.classList.remove("primary");
    const bar = h("progress", { max: 1, value: 0, "aria-label": t("home.verify") });
    const words = h("span.small.muted", { "aria-hidden": "true" });
    replace(result, bar, words);
    try {
      let last = null;
      for await (const line of api.lines("POST", "verify", { signal: mine.signal })) {
        if (line.findings) last = line;
        if (typeof line.done === "number") {
          bar.max = Math.max(1, line.total);
          bar.value = line.done;
          words.textContent = t("home.verifying", { done: bytes(line.done), total: bytes(line.total) });
        }
      }
      if (last) draw(last);
    } catch (error) {
      if (error.name !== "AbortError") replace(result, errorBox(error, run));
    }
    if (running === mine) ended();
  }

  function draw({ findings, digest }) {
    replace(result,
      findings.length === 0 ? h("p.notice.good", {}, h("span", { "aria-hidden": "true" }, "✓"), t("home.clean"))
        : [h("p.notice.bad", {}, t("home.damaged", { n: findings.length })),
          h("ul.list", {}, findings.map(one => h("li", {}, h("p", {}, value(one.what)),
            h("p.small.muted", {}, value(one.file),
              ` · ${t("home.offset")} ${number(one.offset)} · ${t("home.lost")}: `, value(one.lost)))))],
      digest && h("p.small", {}, h("span.muted", {}, t("home.digest") + " "), h("code", {}, digest)));
  }

  return h("section.card.wide", { "aria-labelledby": "health" },
    h("div.head", {}, h("div", {}, h("h2", { id: "health" }, t("home.health")),
      h("p.small.muted", {}, t("home.health.text"))), button), result);
}

export default { title: "nav.home", show };
