// The panel of one product, next to the table: fields, barcode, commit, history, sets, components, raw record.

import { h, value, replace } from "./dom.js";
import { barcode, qr, symbology } from "./barcode.js";
import { bytes, number, time, ago } from "./format.js";
import { fieldNames, fieldTitle, fieldText } from "./fields.js";
import { errorBox } from "./app.js";

/**
 * Makes the panel. `close()` is called for its button and Esc. `show(id, known)` fills it, at first with the fields in
 * `known`; a request for a former product ends.
 */
export function createPanel(context, close) {
  const { t, href } = context;
  const title = h("h2", { id: "panel-title", tabindex: "-1" });
  const content = h("div.panel-body", {});
  const element = h("section.panel", {
    hidden: true, "aria-labelledby": "panel-title",
    onkeydown: event => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      close();
    },
  }, h("div.panel-head", {}, title,
    h("button.button.quiet", { type: "button", "aria-label": t("panel.close"), title: t("panel.close"),
      onclick: close }, "✕")),
  content);
  let shown = null;
  let request = null;

  function section(name, ...children) {
    return h("div.panel-section", {}, h("h3", {}, t(name)), children);
  }

  function productLink(id, product, name) {
    const text = product?.name ?? name;
    return h("a", { href: href("products", [id], { ...rest() }) }, value(text || id));
  }

  /** The parameters of the table, which a link to another product keeps. */
  function rest() {
    const parameters = Object.fromEntries(context.view.parameters);
    delete parameters.row;
    return parameters;
  }

  function draw(product) {
    const code = String(product.barcode ?? "").trim();
    const linear = code ? barcode(code) : null;
    const square = code ? qr(code) : null;
    return [
      h("p.row.tiny", {},
        product.delFlag ? h("span.badge.bad", {}, t("panel.deleted")) : null,
        product.isSaleProduct ? h("span.badge", {}, t("field.isSaleProduct")) : null,
        product.isGroupedProduct ? h("span.badge.accent", {}, t("field.isGroupedProduct")) : null,
        product.isMarketingProduct ? h("span.badge", {}, t("field.isMarketingProduct")) : null),
      linear || square ? h("figure.drawn", {}, linear, square,
        h("figcaption.tiny.muted", {}, [linear && symbology(code), square && "QR"].filter(Boolean).join(" · "))) : null,
      section("panel.fields", h("dl.pairs.fields", {},
        fieldNames.concat(Object.keys(product).filter(key => !fieldNames.includes(key)))
        .filter(field => product[field] !== undefined).map(field => {
          const text = fieldText(product[field]);
          return [h("dt", { title: field }, fieldTitle(field)),
            h("dd", { data: { field }, class: text === "" ? "muted" : null }, text === "" ? "–" : value(text))];
        }))),
    ];
  }

  function drawMore({ product, commit, components, sets, record }) {
    const past = h("div.panel-section", {}, h("h3", {}, t("panel.history")), h("p.muted", {}, t("loading")));
    loadHistory(product.id, past);
    return [
      commit && section("panel.commit", h("p", {},
        h("a", { href: href("history", [], { from: Math.max(0, commit.sequence - 1), to: commit.sequence, at: null }) },
          t("commit", { n: commit.sequence })), " ",
        h("span.muted", { title: time(commit.time) }, ago(commit.time)))),
      components?.length > 0 && section("panel.components", h("ul.list", {},
        components.map(one => h("li.row.between", {},
        one.product ? productLink(one.subProductId, one.product) : h("span", {}, value(one.subProductId), " ",
          h("span.badge.bad", {}, t("missing"))),
        h("span.muted", {}, "× " + number(one.groupNum)))))),
      sets?.length > 0 && section("panel.sets", h("ul.list", {}, sets.map(one => h("li", {},
        productLink(one.id, null, one.name))))),
      past,
      record && h("details.panel-section", {}, h("summary", {}, t("panel.raw")),
        h("dl.pairs", {}, h("dt", {}, t("panel.offset")),
          h("dd.mono", {}, `${number(record.offset)} (0x${record.offset.toString(16)})`),
          h("dt", {}, t("panel.size")), h("dd", {}, bytes(record.bytes)),
          record.indexes.map(index => [h("dt", {}, value(index.name)), h("dd.mono", {}, value(index.position))])),
        h("pre.hex", { tabindex: "0", role: "region", "aria-label": t("panel.raw") }, dump(record.hex))),
    ];
  }

  async function loadHistory(id, host) {
    const mine = request;
    try {
      const { history, complete } = await context.api.get(`products/${encodeURIComponent(id)}/history`, {},
        { signal: mine.signal, exact: true });
      replace(host, h("h3", {}, t("panel.history")), h("ol.changes", {}, history.map(entry => h("li", {},
        h("p.row", {}, h("span.badge" + ({ added: ".good", removed: ".bad" }[entry.change] ?? ".accent"), {},
          t("change." + entry.change)),
          h("a", { href: href("history", [], { from: Math.max(0, entry.sequence - 1), to: entry.sequence,
            at: null }) }, t("commit", { n: entry.sequence })),
          h("span.muted.small", {}, time(entry.time))),
        entry.fields?.length > 0 && entry.change === "changed" && h("dl.pairs.small", {}, entry.fields.map(one => [
          h("dt", {}, fieldTitle(one.field)),
          h("dd", {}, h("del", {}, value(fieldText(one.before) || "–")), " → ",
            h("ins", {}, value(fieldText(one.after) || "–")))]))))),
      complete === false && h("p.muted.small", {}, t("panel.older")));
    } catch (error) {
      if (error.name !== "AbortError") replace(host, h("h3", {}, t("panel.history")), errorBox(error));
    }
  }

  return {
    element,
    get id() { return shown; },
    focus() { title.focus({ preventScroll: true }); },
    hide() {
      request?.abort();
      request = null;
      shown = null;
      element.hidden = true;
    },
    async show(id, known) {
      if (id === shown && !element.hidden) return;
      request?.abort();
      const mine = request = new AbortController();
      shown = id;
      element.hidden = false;
      replace(title, value(known?.name || id));
      content.scrollTop = 0;
      if (known) replace(content, draw({ id, ...known }));
      else replace(content, h("p.loading", {}, t("loading")));
      try {
        const answer = await context.api.get("products/" + encodeURIComponent(id), {},
          { signal: mine.signal, exact: true });
        replace(title, value(answer.product.name || id));
        replace(content, draw(answer.product), drawMore(answer));
      } catch (error) {
        if (error.name === "AbortError") return;
        shown = null;
        replace(content, h("p.mono", {}, value(id)), errorBox(error));
      }
    },
  };
}

/** Hexadecimal text as lines of offset, sixteen bytes, and their ASCII. */
function dump(hex) {
  const lines = [];
  for (let i = 0; i < hex.length; i += 32) {
    const part = hex.slice(i, i + 32).match(/../g) ?? [];
    const ascii = part.map(byte => {
      const code = parseInt(byte, 16);
      return code >= 32 && code < 127 ? String.fromCharCode(code) : "·";
    }).join("");
    lines.push((i / 2).toString(16).padStart(4, "0") + "  " + part.join(" ").padEnd(48) + " " + ascii);
  }
  return lines.join("\n");
}
