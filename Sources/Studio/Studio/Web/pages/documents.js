// Documents: collections, queries in the language of `--where`, documents as trees, and editing.

import { h, value, replace, shown } from "../dom.js";
import { number } from "../format.js";
import { ExactNumber, keepsDigits, parseJSON, segment } from "../api.js";
import { errorBox, messageOf } from "../errors.js";
import { clip, empty, json, pending, present, table, tree } from "./parts.js";

const pageSize = 50;
/** The most suggestions that the list of field paths shows. */
const suggestionLimit = 12;

export default {
  title: "nav.documents",
  async show(main, view, context) {
    const { collections } = await context.api.get("collections");
    if (view.path.length === 0) {
      showCollections(collections, context);
      return { update: () => false };
    }
    return showCollection(collections.find(item => item.name === view.path[0])
      ?? { name: view.path[0], indexes: [], paths: [] }, view, context);
  },
};

/** The changes of documents that wait. All belong to one store, so they are one commit. */
function pendingDocuments(context, saved) {
  return pending(context, "documents", changes => context.api.send("POST", "collections", {
    changes: changes.map(({ collection, id, before, after }) => ({ collection, id, document: after, before,
      isNew: before === undefined })),
  }), saved);
}

function showCollections(collections, context) {
  const { t, href } = context;
  context.page(t("nav.documents"), present(context), pendingDocuments(context, context.showAgain).element,
    collections.length === 0 ? empty("documents.none") : h("section.card", {},
      table(t("documents.collections"), [t("documents.collection"), [t("nav.documents")], t("documents.indexes")],
        collections.map(item =>
        h("tr", {}, h("td", {}, h("a", { href: href("documents", [item.name]) }, value(item.name))),
          h("td.number", {}, number(item.count)), h("td", {}, indexes(t, item.indexes)))))));
}

function indexes(t, list) {
  return list.length === 0 ? h("span.muted", {}, t("documents.noindex")) : h("span.row", {}, list.map(index =>
    h("span.badge", {}, value(index.paths.join(", "), { class: "mono" }), " ", t("index." + index.kind))));
}

async function showCollection(collection, view, context) {
  const { t, href } = context;
  const path = `collections/${segment(collection.name)}`;
  const condition = h("input.mono", { id: "where", type: "text", value: view.parameters.get("where") ?? "",
    spellcheck: "false",
    autocomplete: "off", autocapitalize: "off", placeholder: "user.age >= 65 and tags contains 'vip'" });
  const order = h("input.mono", { id: "order", type: "text", value: view.parameters.get("order") ?? "",
    spellcheck: "false",
    autocomplete: "off", autocapitalize: "off", placeholder: "user.name, user.age desc" });
  const problem = h("div", { id: "where-problem" }), plan = h("p.small.muted", { "aria-live": "polite" });
  const list = h("ul.list.documents"), links = h("div");
  let next = null, asked = 0;
  const more = h("button.button", { type: "button", hidden: true, onclick: () => load(next) }, t("more"));
  const edits = pendingDocuments(context, () => load(null));
  const keyOf = id => collection.name + "/" + JSON.stringify(id);

  async function load(after) {
    const ask = ++asked, question = { where: condition.value.trim(), order: order.value.trim() };
    more.disabled = true;
    try {
      const answer = await context.api.get(path, { ...question, limit: pageSize, after }, { exact: true });
      if (ask !== asked) return;
      replace(problem);
      condition.removeAttribute("aria-invalid");
      if (after === null) replace(list);
      const start = list.children.length;
      for (const item of answer.documents) list.append(row(item));
      if (after === null && answer.documents.length === 0) list.append(h("li.muted", {}, t("documents.nomatch")));
      next = answer.next;
      more.hidden = next === null;
      const count = answer.count === null || answer.count === undefined ? ""
        : t("documents.n", { n: answer.count }) + " · ";
      replace(plan, count, t("documents.plan") + ": ", value(answer.plan, { class: "mono" }));
      replace(links, context.exports(path, question));
      if (after !== null) list.children[start]?.querySelector("summary")?.focus();
    } catch (error) {
      if (error.name === "AbortError" || ask !== asked) return;
      if (error.status === 400) {
        condition.setAttribute("aria-invalid", "true");
        replace(problem, h("p.bad", { role: "alert" }, value(messageOf(error), { class: "mono pre" })));
      } else replace(problem, errorBox(error, () => load(after)));
    }
    more.disabled = false;
  }

  function row({ id, document }) {
    const body = h("div.stack");
    const shown = () => replace(body, tree(document, 2), context.store.editable && keepsDigits && h("div.row", {},
      h("button.button.little", { type: "button", onclick: () => edit(body, id, document, shown) }, t("edit")),
      h("button.button.little.danger", { type: "button", onclick: () =>
        edits.add(keyOf(id), { ...change(id), before: document, after: undefined }) }, t("remove"))));
    const { id: _, ...rest } = document;
    const details = h("details", { ontoggle: () => { if (details.open && !body.firstChild) shown(); } },
      h("summary", {}, value(json(id), { class: "mono id" }), " ",
        value(clip(JSON.stringify(rest), 160), { class: "mono muted small preview" })), body);
    return h("li", {}, details);
  }

  function change(id) {
    return { collection: collection.name, id, title: `${collection.name}: ${json(id)}` };
  }

  /** A document as JSON to edit; `id` null is a new one. */
  function edit(place, id, document, close) {
    const wrong = h("p.bad", { role: "alert" });
    const text = h("textarea.mono", { rows: "12", spellcheck: "false", "aria-label": t("documents.json"),
      value: JSON.stringify(edits.get(keyOf(id))?.after ?? document, null, 2) });
    replace(place, text, wrong, h("div.row", {},
      h("button.button.primary", { type: "button", onclick: async () => {
        let changed;
        try { changed = parseJSON(text.value, true); } catch (error) { return wrong.textContent = error.message; }
        const its = changed?.id, isNumber = typeof its === "number" || its instanceof ExactNumber;
        if (typeof its !== "string" && !isNumber) return wrong.textContent = t("documents.needsid");
        if (id !== null && JSON.stringify(its) !== JSON.stringify(id)) return wrong.textContent = t("documents.sameid");
        if (id === null) {
          const where = "id = " + (isNumber ? its : `'${its.replace(/[\\']/g, "\\$&")}'`);
          const known = await context.api.get(path, { where, limit: 1 }).catch(() => ({ documents: [] }));
          if (known.documents.length > 0) return wrong.textContent = t("documents.exists");
        }
        edits.add(keyOf(its), { ...change(its), before: id === null ? undefined : document, after: changed });
        close();
        edits.element.scrollIntoView({ block: "nearest" });
      } }, t("pending.keep")),
      h("button.button", { type: "button", onclick: close }, t("cancel"))));
    text.focus();
  }

  const run = event => {
    event?.preventDefault();
    context.setUrl(href("documents", [collection.name], { where: condition.value.trim(), order: order.value.trim() }));
    load(null);
  };
  const fresh = h("div.stack");
  context.page(collection.name, present(context),
    h("div.head", {}, h("p.row", {}, h("a", { href: href("documents") }, "← " + t("documents.collections")),
      indexes(t, collection.indexes)), links),
    h("form.toolbar.query", { onsubmit: run },
      h("div.field.stacked", {}, h("label.label", { for: "where" }, t("documents.where")),
        completed(context, condition, collection.paths)),
      h("div.field.stacked.narrow", {}, h("label.label", { for: "order" }, t("documents.order")),
        completed(context, order, collection.paths)),
      h("button.button.primary", { type: "submit" }, t("documents.run"))),
    problem, plan, edits.element,
    context.store.editable && !keepsDigits && h("p.muted.small", {}, t("edit.digits")),
    context.store.editable && keepsDigits && h("p", {}, h("button.button",
      { type: "button", onclick: () => edit(fresh, null, { id: "" }, () => replace(fresh)) }, t("documents.new"))),
    fresh,
    h("section.card", { "aria-label": t("nav.documents") }, list, more));
  document.title = `${shown(collection.name)} · ${t("nav.documents")} · Shelfmark Studio`;
  await load(null);
  return {
    update(changed) {
      if (changed.path[0] !== collection.name) return false;
      condition.value = changed.parameters.get("where") ?? "";
      order.value = changed.parameters.get("order") ?? "";
      return load(null);
    },
  };
}

/** Adds a list of the field paths that complete the word before the caret; arrows choose, Enter or Tab takes, Esc closes. */
function completed(context, field, paths) {
  const { t } = context;
  const list = h("ul.suggestions", { role: "listbox", id: field.id + "-paths", "aria-label": t("documents.paths"),
    hidden: true });
  let found = [], chosen = -1;
  for (const [name, item] of Object.entries({ "aria-autocomplete": "list", "aria-controls": list.id })) {
    field.setAttribute(name, item);
  }
  const word = () => /[\p{L}_][\p{L}\p{N}_.]*$/u.exec(field.value.slice(0, field.selectionStart))?.[0] ?? "";
  const close = () => {
    list.hidden = true;
    chosen = -1;
    field.removeAttribute("aria-activedescendant");
  };
  const open = all => {
    const start = word().toLowerCase();
    found = start === "" && !all ? [] : paths.filter(path => path.toLowerCase().includes(start)
      && path.toLowerCase() !== start)
      .sort((a, b) => b.toLowerCase().startsWith(start) - a.toLowerCase().startsWith(start)).slice(0, suggestionLimit);
    if (found.length === 0) return close();
    chosen = -1;
    replace(list, found.map((path, index) => h("li",
      { role: "option", id: `${list.id}-${index}`, "aria-selected": "false",
      onpointerdown: event => { event.preventDefault(); take(index); } }, value(path, { class: "mono" }))));
    list.hidden = false;
    field.removeAttribute("aria-activedescendant");
    context.announce(t("documents.suggestions", { n: found.length }));
  };
  const choose = index => {
    list.children[chosen]?.setAttribute("aria-selected", "false");
    chosen = (index + found.length) % found.length;
    list.children[chosen].setAttribute("aria-selected", "true");
    field.setAttribute("aria-activedescendant", list.children[chosen].id);
  };
  const take = index => {
    const end = field.selectionStart;
    field.setRangeText(found[index], end - word().length, end, "end");
    close();
  };
  field.addEventListener("input", () => open(false));
  field.addEventListener("blur", close);
  field.addEventListener("keydown", event => {
    if (event.isComposing) return;
    if (list.hidden) {
      if (event.key === "ArrowDown" || event.key === " " && event.ctrlKey) {
        event.preventDefault();
        open(true);
        if (!list.hidden) choose(0);
      }
      return;
    }
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen < 0 ? found.length - 1 : chosen - 1);
    else if (event.key === "Escape") close();
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) take(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return h("div.combo", {}, field, list);
}
