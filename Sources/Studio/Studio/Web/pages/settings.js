// Settings: of the user and of the default store, and pending changes of them.

import { h, value, replace } from "../dom.js";
import { keepsDigits, parseJSON } from "../api.js";
import { errorBox } from "../errors.js";
import { clip, empty, json, pending, present, table } from "./parts.js";

export default {
  title: "nav.settings",
  async show(main, view, context) {
    const { t } = context;
    const body = h("div.stack"), form = h("div");
    const canEdit = context.store.editable && keepsDigits;
    const edits = pending(context, "settings", changes => context.api.send("POST", "settings", {
      changes: changes.map(({ owner, name, after, before }) => ({ owner, name, value: after, before })),
    }), () => load().catch(error => { if (error.name !== "AbortError") replace(body, errorBox(error, load)); }));

    async function load() {
      const { settings } = await context.api.get("settings", { at: null }, { exact: true });
      replace(body, settings.length === 0 ? empty("settings.none") : ["user", "default"].map(owner => {
        const mine = settings.filter(setting => setting.owner === owner);
        return mine.length === 0 ? null : h("section.card", {}, h("h2", {}, t("settings.of." + owner)),
          table(t("settings.of." + owner), [t("name"), t("value"), t("settings.about"), ...canEdit
            ? [h("span.hidden", {}, t("actions"))] : []], mine.map(row)));
      }));
    }

    function row(setting) {
      // A secret is shown as "…" and cannot be edited from what is shown: a new value replaces it.
      const text = json(setting.value);
      return h("tr", { data: { setting: setting.name } },
        h("th", { scope: "row" }, value(setting.name, { class: "mono" }), !setting.known
          && [" ", h("span.badge.warn", {}, t("settings.unknown"))]),
        h("td", {}, value(clip(text, 400), { class: "mono" })), h("td.muted", {}, value(setting.description ?? "")),
        canEdit && h("td", {}, h("span.row.nowrap", {},
          h("button.button.little", { type: "button", "aria-label": t("edit") + " " + setting.name, onclick: event =>
            edit(setting, event.currentTarget) }, t("edit")),
          h("button.button.little.danger", { type: "button", "aria-label": t("settings.unset") + " " + setting.name,
            onclick: () => add(setting, undefined) }, t("settings.unset")))));
    }

    function add({ owner, name, value: before }, after) {
      edits.add(owner + "/" + name, { owner, name, title: `${name} (${t("settings.of." + owner)})`, before, after });
    }

    /** A form for one setting; null is a new one. */
    function edit(setting, button) {
      const close = () => {
        replace(form);
        if (button.isConnected) button.focus();
      };
      const wrong = h("p.bad", { role: "alert" });
      const now = setting && (edits.get(setting.owner + "/" + setting.name)?.after ?? setting.value);
      const name = h("input.mono", { id: "setting-name", type: "text", required: true, spellcheck: "false",
        autocomplete: "off", disabled: setting !== null, value: setting?.name ?? "" });
      const owner = h("select", { id: "setting-owner", disabled: setting !== null }, ["user", "default"].map(which =>
        h("option", { value: which, selected: which === setting?.owner }, t("settings.of." + which))));
      const text = h("input.mono.field", { id: "setting-value", type: "text", spellcheck: "false", autocomplete: "off",
        value: now === undefined || now === null || now === "…" ? "" : JSON.stringify(now) });
      replace(form, h("form.card", { onkeydown: event => { if (event.key === "Escape") close(); }, onsubmit: event => {
        event.preventDefault();
        // What is no JSON is a text, as for `catalogctl config set`.
        let changed = text.value;
        try { changed = parseJSON(text.value, true); } catch { /* The text itself. */ }
        if (text.value === "") return wrong.textContent = t("settings.empty");
        add(setting ?? { owner: owner.value, name: name.value.trim(), value: undefined }, changed);
        close();
      } }, h("h2", {}, setting ? value(setting.name) : t("settings.new")),
      h("div.toolbar", {}, setting ? null : [h("label", { for: "setting-name" }, t("name")), name,
        h("label", { for: "setting-owner" }, t("settings.owner")), owner],
        h("label", { for: "setting-value" }, t("settings.json")), text,
        h("button.button.primary", { type: "submit" }, t("pending.keep")),
          h("button.button", { type: "button", onclick: close }, t("cancel"))), wrong));
      (setting ? text : name).focus();
    }

    await load();
    context.page(t("nav.settings"), present(context), h("div.head", {}, h("span"),
      context.exports("settings", { at: null })), edits.element,
      canEdit ? h("p", {}, h("button.button",
        { type: "button", onclick: event => edit(null, event.currentTarget) }, t("settings.new")))
        : h("p.muted.small", {}, t(context.store.editable ? "edit.digits" : "settings.readonly")),
      form, body);
    return { update: () => false };
  },
};
