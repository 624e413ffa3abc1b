// The panel of one product, next to the table: fields, barcode, commit, history, sets, components, raw record.

import { h, value, replace } from "./dom.js";
import { barcode, qr, symbology } from "./barcode.js";
import { bytes, number, time, ago } from "./format.js";
import { parseJSON, segment } from "./api.js";
import { codesText, fieldKind, fieldNames, fieldTitle, fieldText } from "./fields.js";
import { errorBox } from "./errors.js";

/**
 * Makes the panel. `close()` is called for its button and Esc. `show(id, known)` fills it, at first with the fields in
 * `known`; a request for a former product ends. `allow(edits)` adds what changes a product, to the changes that wait.
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

  /** Buttons that change a product, as the server has sent it. */
  function changes(product) {
    const { id } = product;
    const known = edits.get(id);
    const drawn = known?.after ?? product;
    return h("p.row", {},
      h("button.button.little", { type: "button", onclick: () => edit(drawn, after => edits.add(id,
        { id, title: product.name || id, before: product, after })) }, t("edit")),
      h("button.button.little.danger", { type: "button", onclick: () => edits.add(id,
        { id, title: product.name || id, before: product, after: undefined }) }, t("remove")));
  }

  /** Shows a form in place of the product; `take(product)` gets what was written. */
  function edit(product, take) {
    const wrong = h("p.bad", { role: "alert" });
    const isNew = product.id === "";
    const inputs = new Map();
    const rows = fieldNames.map(field => {
      const id = "edit-" + field, kind = fieldKind(field), now = product[field];
      const input = kind === "flag" ? h("input", { id, type: "checkbox", checked: now === true })
        : h("input", { id, type: "text", autocomplete: "off", spellcheck: "false",
          inputmode: kind === "number" ? "decimal" : null, disabled: field === "id" && !isNew,
          value: now === null || now === undefined ? "" : String(now) });
      inputs.set(field, input);
      return h("div.field.stacked", {}, h("label.label", { for: id }, fieldTitle(field)), input);
    });
    const codes = codeRows(product.codes ?? []);
    const extra = h("textarea.mono", { id: "edit-extra", rows: "3", spellcheck: "false",
      value: product.extra === undefined ? "" : JSON.stringify(product.extra, null, 2) });
    const back = () => replace(content, ...shownParts);
    replace(content, h("form.stack", { onsubmit: event => {
      event.preventDefault();
      // A field without an input stays as it is; "extra" has one of its own.
      const after = Object.fromEntries(
        Object.entries(product).filter(([field]) => !["extra", "codes"].includes(field) && !inputs.has(field)));
      for (const [field, input] of inputs) {
        const text = input.type === "checkbox" ? "" : input.value.trim();
        if (input.type === "checkbox") after[field] = input.checked;
        else if (fieldKind(field) !== "number") after[field] = input.value;
        else if (text !== "") {
          if (!/^-?\d+(\.\d+)?$/.test(text)) {
            wrong.textContent = t("edit.number", { field: fieldTitle(field) });
            return input.focus();
          }
          after[field] = parseJSON(text, true);
        }
      }
      if (isNew && after.id === "") {
        wrong.textContent = t("edit.needsid");
        return inputs.get("id").focus();
      }
      if (extra.value.trim() !== "") {
        try { after.extra = parseJSON(extra.value, true); } catch (error) {
          wrong.textContent = error.message;
          return extra.focus();
        }
      }
      const fault = codes.fault();
      if (fault) {
        wrong.textContent = fault.text;
        return fault.input.focus();
      }
      after.codes = codes.value();
      back();
      take(after);
    } }, rows, codes.element, h("div.field.stacked", {}, h("label.label", { for: extra.id }, fieldTitle("extra")), extra), wrong,
    h("div.row", {}, h("button.button.primary", { type: "submit" }, t("pending.keep")),
      h("button.button", { type: "button", onclick: back }, t("cancel")))));
    inputs.get(isNew ? "id" : "barcode").focus();
  }
  /** The codes of a product as rows that can be changed, added and removed. */
  function codeRows(known) {
    const list = h("ul.list.coderows");
    const rows = [];
    function add(one, isNew) {
      const input = (key, text, mode) => h("input" + (mode === "code" ? ".mono" : ""), { type: "text",
        autocomplete: "off", spellcheck: "false", inputmode: mode === "number" ? "decimal" : null,
        "aria-label": t("codes." + key), placeholder: t("codes." + key), value: text });
      const row = { id: one.id, quantity: one.quantity, code: input("code", one.code, "code"),
        amount: input("quantity", String(one.quantity), "number"), unit: input("unit", one.unit),
        kind: input("kind", one.kind) };
      rows.push(row);
      const item = h("li.coderow", {}, row.code, row.amount, row.unit, row.kind, h("button.button.little.quiet",
        { type: "button", "aria-label": t("codes.remove", { code: one.code }), onclick: () => {
          const index = rows.indexOf(row);
          rows.splice(index, 1);
          item.remove();
          (rows[index]?.code ?? more).focus();
        } }, "✕"));
      list.append(item);
      if (isNew) row.code.focus();
    }
    const more = h("button.button.little", { type: "button",
      onclick: () => add({ id: "", code: "", quantity: "1", unit: "", kind: "" }, true) }, t("codes.add"));
    for (const one of known) add(one);
    return {
      element: h("fieldset.edit-codes", {}, h("legend.label", {}, t("panel.codes")), list, more),
      /** What is wrong with a row, and where; nothing if all are right. */
      fault() {
        for (const { code, amount } of rows) {
          if (code.value.trim() === "") return { input: code, text: t("codes.needscode") };
          const text = amount.value.trim();
          if (!/^\d+(\.\d+)?$/.test(text) || !/[1-9]/.test(text)) {
            return { input: amount, text: t("codes.needsquantity", { code: code.value }) };
          }
        }
        return null;
      },
      value: () => rows.map(({ id, quantity, code, amount, unit, kind }) => {
        const text = amount.value.trim();
        return { id, code: code.value, quantity: text === String(quantity) ? quantity : parseJSON(text, true),
          unit: unit.value, kind: kind.value };
      }),
    };
  }

  /** What the panel shows in place of a form. */
  let shownParts = [];
  /** The product, as the server has sent it; null while it is asked for. */
  let current = null;
  /** The changes of products that wait; null if none can be made. */
  let edits = null;

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
        fieldNames.concat(Object.keys(product).filter(key => ![...fieldNames, "codes", "extra"].includes(key)))
        .filter(field => product[field] !== undefined).map(field => pair(field, fieldTitle(field), product[field])))),
      product.extra && section("field.extra", h("dl.pairs.fields", {}, Object.entries(product.extra).map(([name, own]) =>
        pair("extra." + name, value(name), own)))),
    ];
  }

  /** A field with its name. */
  function pair(field, title, content) {
    const text = fieldText(content);
    return [h("dt", { title: field }, title),
      h("dd", { data: { field }, class: text === "" ? "muted" : null }, text === "" ? "–" : value(text))];
  }

  function drawMore({ product, commit, codes, components, sets, record }) {
    const past = h("div.panel-section", {}, h("h3", {}, t("panel.history")), h("p.muted", {}, t("loading")));
    loadHistory(product.id, past);
    return [
      codes?.length > 0 && section("panel.codes", h("div.scroll", { tabindex: "0", role: "region",
        "aria-label": t("panel.codes") }, h("table.data.code-table", {}, h("thead", {}, h("tr", {},
        ["code", "quantity", "unit", "kind"].map(key => h("th" + (key === "quantity" ? ".number" : ""),
          { scope: "col" }, t("codes." + key))))),
      h("tbody", {}, codes.map(one => h("tr", { data: { code: one.code } },
        h("th.mono", { scope: "row" }, value(one.code)), h("td.number", {}, String(one.quantity)),
        h("td", {}, value(one.unit)), h("td", {}, value(one.kind)))))))),
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
      const { history, complete } = await context.api.get(`products/${segment(id)}/history`, {},
        { signal: mine.signal, exact: true });
      replace(host, h("h3", {}, t("panel.history")), h("ol.changes", {}, history.map(entry => h("li", {},
        h("p.row", {}, h("span.badge" + ({ added: ".good", removed: ".bad" }[entry.change] ?? ".accent"), {},
          t("change." + entry.change)),
          h("a", { href: href("history", [], { from: Math.max(0, entry.sequence - 1), to: entry.sequence,
            at: null }) }, t("commit", { n: entry.sequence })),
          h("span.muted.small", {}, time(entry.time))),
        entry.fields?.length > 0 && entry.change === "changed" && h("dl.pairs.small", {}, entry.fields.map(one => [
          h("dt", {}, fieldTitle(one.field)),
          h("dd", {}, h("del", {}, value(changeText(one.field, one.before) || "–")), " → ",
            h("ins", {}, value(changeText(one.field, one.after) || "–")))]))))),
      complete === false && h("p.muted.small", {}, t("panel.older")));
    } catch (error) {
      if (error.name !== "AbortError") replace(host, h("h3", {}, t("panel.history")), errorBox(error));
    }
  }

  return {
    element,
    get id() { return shown; },
    allow(given) {
      edits = given;
      if (current === null) return;
      shownParts[0] = changes(current);
      replace(content, ...shownParts);
    },
    /** Shows a form for a new product. */
    create() {
      request?.abort();
      shown = current = null;
      shownParts = [];
      element.hidden = false;
      replace(title, t("products.new"));
      edit({ id: "" }, after => {
        edits.add(after.id, { id: after.id, title: after.name || after.id, before: undefined, after });
        close();
      });
    },
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
      current = null;
      element.hidden = false;
      replace(title, value(known?.name || id));
      content.scrollTop = 0;
      if (known) replace(content, draw({ id, ...known }));
      else replace(content, h("p.loading", {}, t("loading")));
      try {
        const answer = await context.api.get("products/" + segment(id), {},
          { signal: mine.signal, exact: true });
        replace(title, value(answer.product.name || id));
        current = { ...answer.product, codes: answer.codes };
        shownParts = [edits && changes(current), draw(current), drawMore(answer)];
        replace(content, ...shownParts);
      } catch (error) {
        if (error.name === "AbortError") return;
        shown = null;
        replace(content, h("p.mono", {}, value(id)), errorBox(error));
      }
    },
  };
}

/** A field's value before or after a change. */
function changeText(field, content) {
  return field === "codes" && Array.isArray(content) ? codesText(content) : fieldText(content);
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
