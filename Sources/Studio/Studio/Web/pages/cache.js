// Cache: the pages of remote lists that are kept for the time without a connection.

import { h, value } from "../dom.js";
import { number, bytes, time, ago } from "../format.js";
import { empty, present, table } from "./parts.js";

export default {
  title: "nav.cache",
  async show(main, view, context) {
    const { t } = context;
    const { lists } = await context.api.get("cache", { at: null });
    const sum = field => lists.reduce((total, list) => total + list[field], 0);
    context.page(t("nav.cache"), present(context), h("div.head", {}, h("span"), context.exports("cache", { at: null })),
      lists.length === 0 ? empty("cache.none") : [
      h("section.card", {}, h("div.stats", {}, [["cache.lists", number(lists.length)],
        ["cache.items", number(sum("items"))], ["cache.bytes", bytes(sum("bytes"))]].map(([key, text]) =>
        h("dl.stat", {}, h("dt", {}, t(key)), h("dd", {}, text))))),
      h("section.card", {}, table(t("nav.cache"), [t("name"), t("cache.order"), t("cache.pages"),
        [t("cache.pagesize")], [t("cache.items")], [t("cache.bytes")], t("cache.fetched"), t("cache.state")],
        lists.map(list => h("tr", {}, h("th", { scope: "row" }, value(list.name)),
          h("td", {}, list.order === null || list.order === undefined ? "–" : value(list.order, { class: "mono" })),
          h("td", {}, ranges(list.pages)), h("td.number", {}, number(list.pageSize)),
            h("td.number", {}, number(list.items)), h("td.number.nowrap", {}, bytes(list.bytes)),
          h("td.nowrap", { title: time(list.fetched) }, ago(list.fetched)),
          h("td", {}, list.stale ? h("span.badge.warn", {}, t("cache.stale"))
            : h("span.badge.good", {}, t("cache.fresh"))))))),
    ]);
    return { update: () => false };
  },
};

/** Numbers with the runs among them shortened: 0–3, 7. */
function ranges(pages) {
  const runs = [];
  for (const page of [...pages].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && page === run[1] + 1) run[1] = page;
    else runs.push([page, page]);
  }
  return runs.map(([from, to]) => from === to ? number(from) : `${number(from)}–${number(to)}`).join(", ") || "–";
}
