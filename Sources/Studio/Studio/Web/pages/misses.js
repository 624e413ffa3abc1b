// Misses: codes that found nothing, how often, when last, and why.

import { h, value } from "../dom.js";
import { number, time, ago } from "../format.js";
import { clip, code, empty, present, table } from "./parts.js";

const limit = 1000;

/** A time in seconds since 1970, as the daemon counts, in the milliseconds of this language. */
const moment = seconds => typeof seconds === "number" ? seconds * 1000 : seconds;

export default {
  title: "nav.misses",
  async show(main, view, context) {
    const { t, href } = context;
    const { misses } = await context.api.get("misses", { limit, at: null });
    context.page(t("nav.misses"), present(context),
      h("div.head", {}, h("p.muted", {}, t("misses.text")), context.exports("misses", { at: null })),
      misses.length === 0 ? empty("misses.none") : h("section.card", {},
        table(t("nav.misses"), [t("code"), [t("misses.count")], t("misses.last"), t("misses.first"), t("misses.input"),
          t("misses.reason")], misses.map(miss => ({
          ...miss, code: miss.code ?? miss.id, first: moment(miss.first), last: moment(miss.last),
        })).map(miss =>
          h("tr", {}, h("th", { scope: "row" }, h("a", { href: href("scan", [], { code: miss.code }) },
            code(clip(miss.code, 120)))),
            h("td.number", {}, number(miss.count)), h("td.nowrap", { title: time(miss.last) }, ago(miss.last)),
            h("td.nowrap", { title: time(miss.first) }, ago(miss.first)), h("td", {}, value(miss.input ?? "–")),
              h("td", {}, value(miss.reason ?? "–"))))),
        misses.length === limit && h("p.muted", {}, t("misses.limit", { n: limit }))));
    return { update: () => false };
  },
};
