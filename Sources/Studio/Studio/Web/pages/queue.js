// Queue: uploads by state, why the last attempt failed, retry and drop.

import { h, value, replace } from "../dom.js";
import { number, time, ago } from "../format.js";
import { segment } from "../api.js";
import { errorBox } from "../errors.js";
import { empty, present, table, tabs, tree } from "./parts.js";

const limits = [100, 1000];
const badges = { waiting: "", sending: "accent", held: "warn", parked: "bad" };

export default {
  title: "nav.queue",
  async show(main, view, context) {
    const { t, href } = context;
    const state = view.parameters.get("state");
    const body = h("div.stack"), problem = h("div");
    let limit = limits[0], keys = new Set();
    const isHeld = upload => upload.state === "waiting" && keys.has(upload.orderKey);

    async function load() {
      const ask = (which, most = limit) => context.api.get("queue", { state: which, limit: most, at: null });
      const answer = await ask(state === "held" ? "waiting" : state);
      const { counts } = answer;
      // What waits for a parked upload with the same order key is held.
      const parked = counts.parked > 0 ? (await ask("parked", limits.at(-1))).uploads : [];
      keys = new Set(parked.filter(upload => upload.holdsKey).map(upload => upload.orderKey));
      const behind = keys.size > 0 ? (await ask("waiting", limits.at(-1))).uploads : [];
      const held = behind.filter(isHeld);
      const uploads = state === "held" ? held : answer.uploads;
      const total = Object.values(counts).reduce((sum, n) => sum + n, 0);
      replace(body,
        tabs(t("queue.states"), [[t("queue.every") + " " + number(total), href("queue"), state === null],
          ...["waiting", "sending", "held", "parked"].map(name => [
            t("queue.is." + name) + " " + (name !== "held" ? number(counts[name] ?? 0)
              : number(held.length) + (behind.length === limits.at(-1) ? "+" : "")),
            href("queue", [], { state: name }), state === name])]),
        uploads.length === 0 ? empty(total === 0 ? "queue.none" : "queue.nonestate") : h("section.card", {},
          table(t("nav.queue"), [t("queue.state"), t("queue.kind"), t("queue.key"), t("queue.created"),
            [t("queue.attempts")], t("queue.error"),
            t("queue.payload"), ...context.store.decidesUploads ? [h("span.hidden", {}, t("actions"))] : []],
              uploads.map(row)),
          answer.uploads.length === limit && limit < limits.at(-1)
            && h("button.button", { type: "button", onclick: () => {
            limit = limits.at(-1);
            again();
          } }, t("more"))));
    }

    function row(upload) {
      const { id } = upload, shown = isHeld(upload) ? "held" : upload.state;
      return h("tr", { data: { upload: id } },
        h("td", {}, h(`span.badge.${badges[shown] || "plain"}`, {}, t("queue.is." + shown)),
          upload.holdsKey && h("span.badge.warn", { title: t("queue.holds.text") }, t("queue.holds"))),
        h("td.nowrap", {}, value(upload.kind), upload.priority !== "normal"
          && [" ", h("span.badge", {}, value(upload.priority))]),
        h("td.nowrap", {}, upload.orderKey === null ? "–" : value(upload.orderKey, { class: "mono" })),
        h("td.nowrap", { title: time(upload.created) }, ago(upload.created)),
        h("td.number", {}, number(upload.attempts)),
        h("td.error", {}, upload.lastError === null ? "–"
          : [upload.lastError.status && h("span.badge.bad", {}, String(upload.lastError.status)), " ",
          value(upload.lastError.message)]),
        h("td", {}, h("details", { ontoggle: event => {
          if (event.target.open && event.target.children.length === 1) {
            event.target.append(h("p.mono.tiny.muted", {}, value(id)),
              tree({ payload: upload.payload, ...upload.files && { files: upload.files } }, 2));
          }
        } }, h("summary", {}, t("show")))),
        context.store.decidesUploads && h("td", {}, actions(id)));
    }

    function actions(id) {
      const cell = h("span.row.nowrap");
      const button = (name, act, kind = "") => h(`button.button.little.${kind || "plain"}`,
        { type: "button", onclick: act }, t(name));
      const usual = () => replace(cell, button("queue.retry", () => act(id, "retry")),
        button("queue.drop", ask, "danger"));
      const ask = () => {
        const sure = button("queue.dropsure", () => act(id, "drop"), "danger");
        replace(cell, sure, button("cancel", () => { usual(); cell.lastChild.focus(); }));
        sure.focus();
      };
      usual();
      return cell;
    }

    async function act(id, verb) {
      try {
        await context.api.send("POST", `queue/${segment(id)}/${verb}`, {});
        context.announce(t("queue." + verb + ".done"));
        await again();
      } catch (error) {
        if (error.name !== "AbortError") replace(problem, errorBox(error, again));
      }
    }

    async function again() {
      try {
        await load();
        replace(problem);
        if (!main.contains(document.activeElement)) refresh.focus();
      } catch (error) {
        if (error.name !== "AbortError") replace(problem, errorBox(error, again));
      }
    }

    const refresh = h("button.button", { type: "button", onclick: again }, t("refresh"));
    await load();
    context.page(t("nav.queue"), present(context), h("div.head", {}, refresh,
      context.exports("queue", { state, at: null })), problem, body,
      !context.store.decidesUploads && h("p.muted.small", {}, t("queue.readonly")));
    return { update: () => false };
  },
};
