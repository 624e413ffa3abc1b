// Scan: what a code is, how it was read, and what it finds.

import { h, value, replace } from "../dom.js";
import { number, time } from "../format.js";
import { errorBox } from "../errors.js";
import { packageText } from "../fields.js";
import { barcode } from "../barcode.js";
import { asOf, clip, code, completion, empty, json, product, scanField, table, visible } from "./parts.js";

/** How many scans of this page are kept, and how many codes are asked for sets. */
const historyLimit = 200;
/** The milliseconds in which the camera does not report the same code twice. */
const cameraPause = 2000;

/** The scans of this page, newest first. They stay while other pages are visited and when new commits are followed. */
const scans = [];

export default {
  title: "nav.scan",
  async show(main, view, context) {
    const { t } = context;
    let current = null, asked = 0, setsTimer, camera = null;
    const field = scanField(t("scan.field"), text => scan(text));
    const result = h("div.stack");
    const sets = h("div.stack", {}), list = h("div.stack");
    const setsCard = h("section.card", { hidden: true }, h("h2", {}, t("scan.sets")), sets);
    const video = h("video.camera", { hidden: true, muted: true, playsinline: true, "aria-label": t("scan.camera") });
    const cameraButton = "BarcodeDetector" in globalThis && navigator.mediaDevices
      ? h("button.button", { type: "button", "aria-pressed": "false", onclick: () => camera ? stop() : film() },
        t("scan.camera")) : null;

    context.page(t("nav.scan"),
      h("form.scanner", { role: "search", onsubmit: event => event.preventDefault() }, field, cameraButton),
      h("p.muted.small", {}, t("scan.hint")), video, result, setsCard,
      h("section.card", {}, h("h2", {}, t("scan.history")), list));
    field.focus();
    // A scanner types wherever the focus is: what is typed outside of controls goes to the field.
    document.addEventListener("keydown", event => {
      const plain = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey && event.key !== "/"
        && event.key !== "?";
      if (!plain || event.target.closest("a, button, input, select, textarea, summary, dialog, [tabindex='0']")) return;
      field.focus();
      field.select();
    }, { signal: context.signal });

    async function look(text, record) {
      const ask = ++asked;
      current = text;
      let answer;
      try {
        answer = await context.api.get("scan", { code: text });
      } catch (error) {
        if (error.name === "AbortError") return;
        if (scans.includes(record)) scans.splice(scans.indexOf(record), 1);
        if (ask === asked) replace(result, errorBox(error, () => look(text, record)));
        return;
      }
      if (record) {
        record.answer = answer;
        showHistory();
      }
      if (ask === asked) {
        replace(result, describe(context, text, answer));
        const [first] = answer.products;
        context.announce(`${t(first ? "scan.found" : "scan.notfound")}, ${answer.match}: ${clip(first?.name ?? answer.reason ?? "", 80)}`);
      }
      return answer;
    }

    async function scan(text) {
      const record = { code: text, time: new Date().toISOString(), answer: null };
      scans.unshift(record);
      scans.length = Math.min(scans.length, historyLimit);
      context.setUrl(context.href("scan", [], { code: text }));
      await look(text, record);
      clearTimeout(setsTimer);
      setsTimer = setTimeout(askSets, 50);
    }

    async function askSets() {
      const codes = scans.filter(scan => scan.answer?.products.length).map(scan => scan.code).reverse();
      if (codes.length === 0 || context.signal.aborted) return;
      try {
        const answer = await context.api.send("POST", "sets/complete" + asOf(context), { codes });
        if (Object.keys(answer.complete).length + Object.keys(answer.incomplete).length === 0) return setsCard.hidden = true;
        replace(sets, completion(context, answer));
        setsCard.hidden = false;
      } catch (error) {
        if (error.name !== "AbortError") replace(sets, errorBox(error, askSets));
      }
    }

    function showHistory() {
      if (scans.length === 0) return replace(list, empty("scan.history.none"));
      replace(list, table(t("scan.history"), [t("time"), t("code"), t("match"), t("product")],
        scans.map(({ code: text, time: when, answer }) =>
        h("tr", {}, h("td", {}, time(when).slice(11)),
          h("td", {}, h("a", { href: context.href("scan", [], { code: text }) }, code(clip(text, 60)))),
          h("td", {}, answer ? word(t, answer) : "…"),
          h("td", {}, answer?.products.length ? [answer.package && packageText(answer.package) + " · ",
            product(context, answer.products[0])] : value(answer?.reason ?? "", { class: "muted" }))))));
    }

    async function film() {
      try {
        const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
        if (context.signal.aborted) return stream.getTracks().forEach(track => track.stop());
        camera = stream;
        video.srcObject = stream;
        video.hidden = false;
        cameraButton.setAttribute("aria-pressed", "true");
        await video.play();
        const detector = new BarcodeDetector();
        let last = "", when = 0;
        while (camera === stream) {
          const [seen] = await detector.detect(video).catch(() => []);
          if (seen?.rawValue && (seen.rawValue !== last || performance.now() - when > cameraPause)) {
            field.value = seen.rawValue;
            scan(seen.rawValue);
            last = seen.rawValue;
          }
          if (seen) when = performance.now();
          await new Promise(resolve => setTimeout(resolve, 120));
        }
      } catch (error) {
        stop();
        replace(result, errorBox(error, film));
      }
    }

    function stop() {
      camera?.getTracks().forEach(track => track.stop());
      camera = null;
      video.srcObject = null;
      video.hidden = true;
      cameraButton?.setAttribute("aria-pressed", "false");
    }

    async function update(next) {
      const text = next.parameters.get("code");
      if (text === current) return;
      field.value = text ?? "";
      if (text) await look(text);
      else {
        current = null;
        asked++;
        replace(result);
      }
      field.select();
      field.focus();
    }

    showHistory();
    await update(view);
    askSets();
    return { update, leave() { stop(); clearTimeout(setsTimer); } };
  },
};

function word(t, { match }) {
  const found = match !== "none" && match !== "unreadable";
  return h(found ? "span.badge.good" : "span.badge.bad", {}, match);
}

function describe(context, text, answer) {
  const { t } = context;
  const found = answer.products.length > 0;
  const first = answer.products[0];
  const pair = (key, item) => item === null || item === undefined || item === "" ? null
    : [h("dt", {}, t(key)), h("dd", {}, item instanceof Node ? item : value(item))];
  const data = flat(answer.data);
  const elements = Object.entries(answer.elements ?? {});
  return [
    h(found ? "section.card.result.good" : "section.card.result.bad", { "aria-label": t("scan.result") },
      found && first.barcode.length <= 48 && h("div.drawing", {}, barcode(first.barcode)),
      h("p.verdict", {}, h("span", { "aria-hidden": "true" }, found ? "✓ " : "✕ "),
        t(found ? "scan.found" : "scan.notfound"), " ",
        h("span.match", { data: { field: "match" } }, answer.match)),
      found ? h("p.name", {}, product(context, first)) : h("p.name", {}, value(answer.reason ?? "")),
      h("dl.pairs", {},
        pair("code", code(clip(text, 300))), pair("scan.kind", answer.kind), pair("scan.symbology", answer.symbology),
        pair("scan.key", answer.key === null ? null : code(answer.key)),
          pair("GTIN", answer.gtin === null ? null : code(answer.gtin)),
        pair("scan.rest", answer.rest === null ? null : code(answer.rest)),
        answer.package && pair("scan.package", [packageText(answer.package), answer.package.kind].filter(Boolean)
          .join(", ")),
        found && [pair("field.brand", first.brand), pair("field.unit", first.unit)],
        answer.measure && pair("scan.measure", flat(answer.measure).map(([name, item]) =>
          `${name}: ${item}`).join(", ")),
        answer.contains && pair("scan.contains", code(answer.contains.gtin)))),
    h("div.head", {}, h("span"), context.exports("scan", { code: text })),
    answer.expired && h("div.notice.bad", {}, h("strong", {}, t("scan.expired"))),
    answer.issues?.length > 0 && h("section.card", {}, h("h2", {}, t("scan.issues")),
      table(t("scan.issues"), [t("scan.ai"), [t("scan.position")], t("scan.issue")], answer.issues.map(issue =>
        h("tr", {}, h("td", {}, issue.ai ? value(`(${issue.ai})`, { class: "mono" }) : "–"),
          h("td.number", {}, number(issue.position)), h("td.warn", {}, value(issue.reason ?? issue.message)))))),
    answer.products.length > 1 && h("section.card", {}, h("h2", {}, t("scan.candidates")),
      products(context, answer.products)),
    answer.suggestions?.length > 0 && h("section.card", {}, h("h2", {}, t("scan.suggestions")),
      table(t("scan.suggestions"), [t("field.barcode"), t("field.name")], answer.suggestions.map(item =>
        h("tr", {}, h("td", {}, h("a", { href: context.href("scan", [], { code: item.barcode }) },
          code(clip(item.barcode, 60)))),
          h("td", {}, product(context, item)))))),
    h("section.card", {}, h("h2", {}, t("scan.steps")), steps(t, text, answer)),
    (data.length > 0 || elements.length > 0) && h("section.card", {}, h("h2", {}, t("scan.data")),
      h("div.cards", {},
        data.length > 0 && table(t("scan.data"), [t("name"), t("value")], data.map(([name, item]) =>
          h("tr", {}, h("th", { scope: "row" }, value(name)), h("td", {}, value(item))))),
        elements.length > 0 && table(t("scan.elements"), [t("scan.ai"), t("scan.text")], elements.map(([name, item]) =>
          h("tr", {}, h("th", { scope: "row" }, value(`(${name})`, { class: "mono" })), h("td", {}, code(item))))))),
  ];
}

function products(context, items) {
  const { t } = context;
  return table(t("scan.candidates"), [t("field.barcode"), t("field.name"), t("field.brand"), t("field.unit")],
    items.slice(0, 100).map(item =>
    h("tr", {}, h("td", {}, code(clip(item.barcode, 60))), h("td", {}, product(context, item)),
      h("td", {}, value(item.brand)), h("td", {}, value(item.unit)))));
}

/** Typed data as names and texts: quantities with their unit, objects by paths. */
function flat(data, path = "") {
  return Object.entries(data ?? {}).flatMap(([key, item]) => {
    const name = path ? path + "." + key : key;
    if (typeof item !== "object" || item === null) return [[name, json(item)]];
    if ("value" in item) return [[name, [item.value, item.unit ?? item.currency].filter(part =>
      part !== undefined).join(" ")]];
    return Array.isArray(item) ? [[name, item.map(json).join(", ")]] : flat(item, name);
  });
}

/** The steps of `explain`, each below the digits of the code that it is about. */
function steps(t, text, { reading, attempts, key, rest }) {
  const shown = visible(text);
  const rows = [];
  const add = (label, item, at, note, state) => rows.push({ label, text: visible(item), at, note, state });
  let from = Math.max(0, shown.indexOf(visible(reading.payload)));
  if (reading.symbology) add(t("scan.symbology"), reading.symbology, Math.max(0, shown.indexOf(reading.symbology)));
  if (reading.payload !== text) add(t("scan.payload"), reading.payload, from);
  for (const { ai, value: item } of reading.elements) {
    const at = shown.indexOf(visible(item), Math.max(0, shown.indexOf(ai, from)));
    add(`(${ai})`, item, at < 0 ? 0 : at);
    if (at >= 0) from = at + item.length;
  }
  if (reading.gtin) add("GTIN", reading.gtin, place(shown, reading.gtin), reading.checkDigit === "none" ? ""
    : t("scan.check") + ": " + reading.checkDigit);
  if (reading.upcE) add("UPC-E", reading.upcE, place(shown, reading.upcE));
  if (reading.addOn) add(t("scan.addon"), reading.addOn, Math.max(0, shown.lastIndexOf(reading.addOn)));
  if (reading.folded) add(t("scan.folded"), reading.folded, 0);
  for (const attempt of attempts) {
    // A head is tried with the whole code; what matched is the beginning of it.
    const head = attempt.kind === "head" && attempt.products > 0 && key && attempt.text.startsWith(key);
    add(t("scan.tried") + " " + attempt.kind, head ? key : attempt.text, place(shown, attempt.text),
      [t("scan.foundn", { n: attempt.products }), attempt.note].filter(Boolean).join(" · "), attempt.products > 0
        ? "good" : "muted");
    if (head && rest) add(t("scan.rest"), rest, place(shown, attempt.text) + attempt.text.indexOf(rest, key.length));
  }
  const left = -Math.min(0, ...rows.map(row => row.at));
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": t("scan.steps") }, h("table.data.digits", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("scan.step")), h("th", { scope: "col" }, t("scan.digits")),
      h("th", { scope: "col" }, t("scan.outcome")))),
    h("tbody", {},
      h("tr", {}, h("th", { scope: "row" }, t("code")),
        h("td.whole", {}, h("bdi", { dir: "ltr" }, " ".repeat(left) + shown)), h("td", {}, value(reading.kind))),
      rows.map(row => h("tr", {}, h("th", { scope: "row" }, row.label),
        h("td", {}, h("bdi", { dir: "ltr" }, " ".repeat(left + row.at),
          h("span", { class: row.state === "good" ? "hit" : null }, row.text))),
        h("td", { class: row.state ?? null }, value(row.note ?? "")))),
      reading.refusal && h("tr", {}, h("th", { scope: "row" }, t("scan.refusal")),
        h("td.bad", { colspan: "2" }, value(reading.refusal))))));
}

/** Where a text stands below a code: at its own digits, without regard to zeros that were added before it. */
function place(shown, text) {
  const whole = shown.indexOf(visible(text));
  if (whole >= 0) return whole;
  const digits = text.replace(/^0+/, "");
  // Another number of digits: those in common stand below each other, and the check digit may differ.
  for (const part of [digits, digits.slice(0, -1)]) {
    const at = part.length > 3 ? shown.indexOf(part) : -1;
    if (at >= 0) return at - (text.length - digits.length);
  }
  return 0;
}
