// History: the commits that are kept, the difference between any two, views of the past, and undo.

import { h, value, replace } from "../dom.js";
import { number, bytes, time, ago } from "../format.js";
import { errorBox, messageOf } from "../errors.js";
import { clip, empty, fields, present, product, table } from "./parts.js";

const rowStep = 200;

export default {
  title: "nav.history",
  async show(main, view, context) {
    const from = view.parameters.get("from"), to = view.parameters.get("to");
    await (from !== null && to !== null ? showChanges(from, to, context) : showCommits(context));
    return { update: () => false };
  },
};

async function showCommits(context) {
  const { t, href } = context;
  const { commits } = await context.api.get("history", { at: null });
  const undo = h("div", { "aria-live": "polite" });
  const compare = h("button.button", { type: "button", disabled: true, onclick: () =>
    context.go(difference(picked.a, picked.b)) }, t("history.compare"));
  const picked = { a: null, b: null };
  // A catalogue without codes has no counts of them.
  const hasCodes = commits.some(commit => commit.codes !== undefined);
  const difference = (a, b) => href("history", [], { from: Math.min(a, b), to: Math.max(a, b), at: null });
  const pick = (side, sequence) => h("input", { type: "radio", name: "commit-" + side, value: sequence,
    "aria-labelledby": `pick-${side} commit-${sequence}`, onchange: () => {
      picked[side] = sequence;
      compare.disabled = picked.a === null || picked.b === null || picked.a === picked.b;
      compare.textContent = compare.disabled ? t("history.compare")
        : t("history.comparen", { a: Math.min(picked.a, picked.b), b: Math.max(picked.a, picked.b) });
    } });
  const plus = n => n === null || n === undefined ? "–" : n === 0 ? h("span.muted", {}, "0") : "+" + number(n);
  const minus = n => n === null || n === undefined ? "–" : n === 0 ? h("span.muted", {}, "0") : "−" + number(n);
  const row = (commit, index) => h("tr", { data: { sequence: commit.sequence } },
    h("td", {}, h("span.row.nowrap", {}, pick("a", commit.sequence), pick("b", commit.sequence))),
    h("th.number", { scope: "row", id: "commit-" + commit.sequence }, number(commit.sequence)),
    h("td.nowrap", { title: ago(commit.time) }, time(commit.time)),
    h("td", {}, h("span.row.nowrap", {},
      h("a.button.little", { href: href("history", [],
        { from: commits[index + 1]?.sequence ?? 0, to: commit.sequence, at: null }),
        "aria-describedby": "commit-" + commit.sequence }, t("history.changes")),
      h("a.button.little", { href: href("products", [], { at: commit.sequence }),
        "aria-describedby": "commit-" + commit.sequence }, t("history.asof")),
      context.store.editable && index > 0 && h("button.button.little.danger",
        { type: "button", "aria-describedby": "commit-" + commit.sequence,
        onclick: event => replace(undo, rollback(context, commit, undo, event.currentTarget)) }, t("history.undo")))),
    h("td", {}, h("span.badge", {}, value(commit.mode)), commit.previous
      && h("span.badge.warn", { title: t("history.previous.text") }, t("history.previous"))),
    h("td.number", {}, plus(commit.products.upserted)), h("td.number", {}, minus(commit.products.deleted)),
    h("td.number", {}, plus(commit.relations.written)), h("td.number", {}, minus(commit.relations.deleted)),
    hasCodes && [h("td.number", {}, plus(commit.codes?.written ?? 0)),
      h("td.number", {}, minus(commit.codes === undefined ? 0 : commit.codes.deleted))],
    h("td.number.nowrap", {}, bytes(commit.bytes)), h("td.nowrap", {}, value(commit.cursor)));
  const body = table(t("nav.history"), [h("span", {}, h("span", { id: "pick-a" }, t("history.a")), " / ",
    h("span", { id: "pick-b" }, t("history.b"))), [t("history.commit")], t("time"), h("span.hidden", {}, t("actions")),
    t("history.mode"), [t("history.productsplus")], [t("history.productsminus")],
    [t("history.relationsplus")], [t("history.relationsminus")],
    ...(hasCodes ? [[t("history.codesplus")], [t("history.codesminus")]] : []), [t("history.size")],
    t("history.cursor")], []);
  const rows = body.querySelector("tbody");
  const more = h("button.button", { type: "button", onclick: () => fill(rows.rows.length) });
  function fill(start) {
    commits.slice(start, start + rowStep).forEach((commit, index) => rows.append(row(commit, start + index)));
    const left = commits.length - rows.rows.length;
    more.hidden = left === 0;
    more.textContent = t("more.of", { n: left });
    if (start > 0) rows.rows[start].querySelector("input").focus();
  }
  fill(0);
  context.page(t("nav.history"), present(context),
    h("div.head", {}, h("div.toolbar", {}, compare, h("span.muted.small", {}, t("history.pick"))),
      context.exports("history")),
    undo,
    commits.length === 0 ? empty("history.none") : h("section.card", {}, body, more),
    !context.store.editable && h("p.muted.small", {}, t("history.readonly")));
}

/** Undo as a form in the page: it is sent only if the number of the commit was typed again. */
function rollback(context, commit, place, button) {
  const { t } = context;
  const wrong = h("p.bad", { role: "alert" });
  const field = h("input", { id: "confirmation", type: "text", inputmode: "numeric", autocomplete: "off", size: "8",
    oninput: () => { send.disabled = field.value.trim() !== String(commit.sequence); } });
  const send = h("button.button.danger", { type: "submit", disabled: true }, t("history.undo"));
  const close = () => {
    replace(place);
    if (button.isConnected) button.focus();
  };
  setTimeout(() => field.focus());
  return h("form.card", { onkeydown: event => { if (event.key === "Escape") close(); }, onsubmit: async event => {
    event.preventDefault();
    send.disabled = true;
    try {
      const answer = await context.api.send("POST", "rollback",
        { sequence: commit.sequence, confirmation: field.value.trim() });
      context.announce(t("history.undone", { n: commit.sequence, to: answer.sequence }));
      await context.reloadStore();
      context.showAgain();
    } catch (error) {
      wrong.textContent = messageOf(error);
      send.disabled = false;
    }
  } }, h("h2", {}, t("history.undo.title", { n: commit.sequence })), h("p", {}, t("history.undo.text")),
  h("div.row", {}, h("label", { for: "confirmation" }, t("history.undo.type", { n: String(commit.sequence) })), field,
    send,
    h("button.button", { type: "button", onclick: close }, t("cancel"))), wrong);
}

async function showChanges(from, to, context) {
  const { t, href } = context;
  const ask = offset => context.api.get("changes", { from, to, limit: rowStep, offset: offset || null, at: null },
    { exact: true });
  const answer = await ask(0);
  const list = h("ul.list"), problem = h("div");
  const more = h("button.button", { type: "button", onclick: async () => {
    more.disabled = true;
    try {
      const start = list.children.length;
      fill(await ask(start));
      replace(problem);
      list.children[start]?.querySelector("a, summary")?.focus();
    } catch (error) {
      if (error.name !== "AbortError") replace(problem, errorBox(error));
    }
    more.disabled = false;
  } }, t("more"));
  const colours = { added: "good", removed: "bad", changed: "accent" };
  function fill({ rows, more: isMore }) {
    for (const row of rows) {
      const shown = row.fields.filter(({ before, after }) => row.change === "changed" || !isDefault(before ?? after));
      list.append(h("li.change", {}, h("div.row", {},
        h(`span.badge.${colours[row.change]}`, {}, t("change." + row.change)), row.kind !== "product"
          && h("span.badge", {}, t(row.kind === "code" ? "codes.one" : "relation")),
        row.kind === "product" && row.change !== "removed" ? product(context, row) : value(clip(row.name || row.id)),
        row.kind === "code" ? product(context, { id: row.id })
          : row.name ? value(row.id, { class: "mono muted small" }) : null),
      shown.length === 0 ? null : row.change === "changed" ? fields(shown)
        : h("details", {}, h("summary.small.muted", {}, t("fields", { n: shown.length })), fields(shown))));
    }
    more.hidden = !isMore;
  }
  fill(answer);
  const counts = (name, { added, removed, changed }) => h("dl.stat", {}, h("dt", {}, name),
    h("dd.row", {}, h("ins", {}, "+" + number(added)), h("del.plain", {}, "−" + number(removed)),
      h("span", { title: t("change.changed") }, "± " + number(changed))));
  const past = n => Number(n) > 0 && h("a.button", { href: href("products", [], { at: n }) },
    t("history.asofn", { n }));
  context.page(Number(from) === 0 ? t("history.before", { to }) : t("history.between", { from, to }),
    h("div.head", {}, h("p", {}, h("a", { href: href("history", [], { at: null }) }, "← " + t("history.all"))),
      context.exports("changes", { from, to, at: null })),
    h("section.card", {}, h("div.stats", {}, counts(t("nav.products"), answer.products),
      counts(t("relations"), answer.relations),
      Object.values(answer.codes).some(n => n > 0) && counts(t("codes"), answer.codes)),
      h("div.toolbar", {}, past(from), past(to))),
    list.children.length === 0 ? empty("history.same") : h("section.card", {}, list, more, problem));
}

function isDefault(item) {
  return item === null || item === "" || item === 0 || item === false;
}
