// Sets: the list, the tree of one set, and a session that puts sets together by scanning.

import { h, value, replace } from "../dom.js";
import { number } from "../format.js";
import { segment } from "../api.js";
import { errorBox } from "../errors.js";
import { asOf, clip, code, completion, empty, product, scanField, table, tabs } from "./parts.js";

const pageSize = 100;
/** The most codes of a session. */
const codeLimit = 1000;
/** The codes of the session, which stay while other pages are visited. */
const codes = [];

export default {
  title: "nav.sets",
  async show(main, view, context) {
    if (view.path.length > 0) return showSet(view.path[0], context);
    const { t, href } = context;
    const session = view.parameters.get("session") === "true", missing = view.parameters.get("missing") === "true";
    const bar = tabs(t("sets.choose"), [
      [t("sets.all"), href("sets"), !session && !missing],
      [t("sets.missing"), href("sets", [], { missing: true }), missing],
      [t("sets.session"), href("sets", [], { session: true }), session],
    ]);
    if (session) return showSession(bar, context);
    const offset = Math.max(0, Number.parseInt(view.parameters.get("offset") ?? "0", 10) || 0);
    const answer = await context.api.get("sets", { offset, limit: pageSize, missing });
    const to = from => href("sets", [], { missing, offset: from > 0 ? from : null });
    const last = offset + answer.rows.length;
    context.page(t("nav.sets"),
      h("div.head", {}, bar, context.exports("sets", { missing })),
      answer.rows.length === 0 ? empty(missing ? "sets.nonemissing" : "sets.nosets") : h("section.card", {},
        table(t("nav.sets"), [t("field.name"), t("field.barcode"), [t("sets.parts")], t("sets.missing")],
          answer.rows.map(row =>
          h("tr", {}, h("td.words", {}, h("a", { href: href("sets", [row.id]) }, value(clip(row.name || row.id)))),
            h("td.words", {}, code(clip(row.barcode, 60))), h("td.number", {}, number(row.components)),
            h("td", {}, row.missing > 0 ? h("span.badge.bad", {}, t("sets.missingn", { n: row.missing }))
              : h("span.muted", {}, "–"))))),
        h("nav.toolbar", { "aria-label": t("pages") },
          h("span.muted", {}, t("range", { from: offset + 1, to: last, n: answer.count === null ? "…"
            : number(answer.count) })),
          offset > 0 && h("a.button", { href: to(offset - pageSize) }, t("previous")),
          (answer.count === null ? answer.rows.length === pageSize : last < answer.count)
            && h("a.button", { href: to(last) }, t("next")))));
    return { update: () => false };
  },
};

async function showSet(id, context) {
  const { t, href } = context;
  const set = await context.api.get(`sets/${segment(id)}`);
  const count = parts => (parts ?? []).reduce((sum, part) =>
    sum + (part.product === null ? 1 : 0) + count(part.components), 0);
  const missing = count(set.components);
  context.page(t("sets.set"),
    h("div.head", {}, h("p", {}, h("a", { href: href("sets") }, "← " + t("sets.all"))),
      context.exports("set", { id: set.id })),
    h("section.card", {}, h("h2", {}, set.product ? product(context, set.product) : value(set.name || set.id)),
      h("p.row", {}, value(set.id, { class: "mono muted" }), set.product?.barcode
        ? code(clip(set.product.barcode, 60)) : null,
        set.product === null && h("span.badge.bad", {}, t("missing")),
        missing > 0 ? h("span.badge.bad", {}, t("sets.missingn", { n: missing }))
          : h("span.badge.good", {}, "✓ " + t("sets.allthere"))),
      set.components.length === 0 ? empty("sets.noparts")
        : h("div.tree.components", {}, parts(context, set.components, 2))));
}

function parts(context, components, levels) {
  const { t } = context;
  return h("ul", {}, components.map(part => {
    const line = h("span.row.part", {}, h("span.pieces", {}, number(part.groupNum), " ×"),
      product(context, part.product, part.subProductId),
      part.product && part.product.barcode ? h("span.muted", {}, code(clip(part.product.barcode, 60))) : null,
      part.product === null && h("span.badge.bad", {}, "✕ " + t("missing")),
      part.cycle && h("span.badge.warn", {}, t("sets.cycle")));
    if (!part.components?.length) return h("li", {}, line);
    const details = h("details", { open: levels > 0 }, h("summary", {}, line),
      parts(context, part.components, levels - 1));
    return h("li", {}, details);
  }));
}

async function showSession(bar, context) {
  const { t } = context;
  let asked = 0;
  const result = h("div.stack"), list = h("ol.codes", { "aria-label": t("sets.codes") });
  const field = scanField(t("scan.field"), text => {
    codes.push(text);
    if (codes.length > codeLimit) codes.shift();
    changed();
  });
  const clear = h("button.button", { type: "button", onclick: () => {
    codes.length = 0;
    field.value = "";
    changed();
    field.focus();
  } }, t("sets.clear"));

  async function changed() {
    const ask = ++asked;
    replace(list, codes.map((text, index) => h("li.chip", {}, code(clip(text, 60)),
      h("button.button.quiet.little", { type: "button", "aria-label": t("remove") + " " + text, onclick: () => {
        codes.splice(index, 1);
        changed();
        field.focus();
      } }, "✕"))).reverse());
    clear.disabled = codes.length === 0;
    if (codes.length === 0) return replace(result, empty("sets.session.hint"));
    try {
      const answer = await context.api.send("POST", "sets/complete" + asOf(context), { codes });
      if (ask !== asked) return;
      replace(result, h("section.card", {}, completion(context, answer)));
      const size = sets => Object.keys(sets).length;
      context.announce(`${t("sets.complete")}: ${size(answer.complete)}, ${t("sets.open")}: ${size(answer.incomplete)}`);
    } catch (error) {
      if (error.name !== "AbortError" && ask === asked) replace(result, errorBox(error, changed));
    }
  }

  context.page(t("nav.sets"), bar,
    h("form.scanner", { onsubmit: event => event.preventDefault() }, field, clear), list, result);
  changed();
  field.focus();
  return { update: () => false };
}
