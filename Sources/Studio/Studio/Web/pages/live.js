// Live: scans as they happen, rates and latencies, inputs, and uploads by target.

import { h, s, value, replace } from "../dom.js";
import { number, decimal, duration, share, time, ago } from "../format.js";
import { clip, code, empty, product, table } from "./parts.js";
import { packageText } from "../fields.js";

/** The most scans in the list, seconds in a chart, and latencies of one second. */
const rowLimit = 100, seconds = 120, sampleLimit = 1000;
/** The milliseconds between two requests of the daemon's state. */
const statusPause = 3000;
/** The least milliseconds between two drawings of the list: a new layout of it for every frame would be most of the work. */
const drawPause = 50;

export default {
  title: "nav.live",
  async show(main, view, context) {
    const { t } = context;
    if (!context.store.live) {
      context.page(t("nav.live"), empty("live.none"));
      return;
    }
    // Per second: how many scans (null before this page was opened), and the percentiles of their latencies. The last entry is the present second.
    const history = Array.from({ length: seconds }, () => ({ count: null, latencies: null }));
    let waiting = [], samples = [], misses = 0, total = 0, count = 0, skipped = 0, paused = false, frame = 0,
      drawn = 0, refresh = 0;
    const connection = h("span.badge", { role: "status" }, t("live.connecting"));
    const pause = h("button.button", { type: "button", "aria-pressed": "false", onclick: () => {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      skipped = 0;
      draw();
    } });
    const figures = h("div.stats"), rate = chart(t("live.rate"), ["line"]),
      latency = chart(t("live.latency"), ["line", "second", "third"]);
    const list = table(t("live.scans"), [t("time"), t("live.input"), t("code"), t("match"), t("product"),
      [t("live.latency")]], []);
    const rows = list.querySelector("tbody");
    const inputs = h("div.stack"), states = new Map(), targets = h("div.stack"),
      problems = h("div.stack", { "aria-live": "polite" });
    const none = h("p.muted", {}, t("live.waiting"));

    function heard(name, data) {
      if (name === "input") refresh = Math.min(refresh, performance.now());
      if (name !== "scan" && name !== "gap" || typeof data !== "object" || data === null) return;
      if (name === "scan") {
        const late = typeof data.latencySeconds === "number" ? data.latencySeconds : null;
        total++;
        count++;
        if (data.products.length === 0) misses++;
        if (late !== null && samples.length < sampleLimit) samples.push(late);
        // What is shown of a scan is kept, not the whole event.
        const { id, name: title } = data.products[0] ?? {};
        waiting.push({ time: data.time, input: data.input, code: data.code, match: data.match, reason: data.reason,
          late, package: data.package ?? null, first: id === undefined ? null : { id, name: title } });
      } else waiting.push({ gap: true });
      if (waiting.length > rowLimit) waiting.shift();
      if (paused && name === "scan") skipped++;
      if (!frame) soon();
    }

    /** Draws before the next frame that is at least a pause after the last drawing. */
    function soon() {
      frame = requestAnimationFrame(now => now - drawn >= drawPause ? draw(now) : soon());
    }

    function draw(now = performance.now()) {
      frame = 0;
      drawn = now;
      pause.textContent = paused ? skipped > 0 ? t("live.resumen", { n: skipped }) : t("live.resume") : t("live.pause");
      if (paused || waiting.length === 0) return;
      none.hidden = true;
      const kept = rows.contains(document.activeElement) ? document.activeElement.closest("tr") : null;
      rows.prepend(...waiting.map(row).reverse());
      waiting = [];
      for (let last = rows.lastElementChild; rows.children.length > rowLimit && last;) {
        const before = last.previousElementSibling;
        // The row that has the focus stays until it is left.
        if (last !== kept) last.remove();
        last = before;
      }
    }

    function row(scan) {
      if (scan.gap) return h("tr", {}, h("td.warn", { colspan: "6" }, t("live.gap")));
      const good = scan.first !== null;
      return h("tr", {}, h("td", {}, time(scan.time).slice(11)), h("td", {}, value(scan.input)),
        h("td", {}, h("a", { href: context.href("scan", [], { code: scan.code }) }, code(clip(scan.code, 60)))),
        h("td", {}, h(good ? "span.badge.good" : "span.badge.bad", {}, value(scan.match))),
        h("td", {}, good ? [scan.package && packageText(scan.package) + " · ", product(context, scan.first)] : value(scan.reason ?? "", { class: "muted" })),
          h("td.number", {}, duration(scan.late)));
    }

    function second() {
      samples.sort((a, b) => a - b);
      const at = part => samples[Math.min(samples.length - 1, Math.floor(samples.length * part))];
      history.shift();
      history.push({ count, latencies: samples.length ? [at(.5), at(.95), at(.99)] : null });
      count = 0;
      samples = [];
      if (!document.hidden) figure();
    }

    function figure() {
      const recent = history.slice(-10), all = history.map(entry => entry.latencies).filter(Boolean).slice(-60);
      const highest = index => all.length ? Math.max(...all.map(entry => entry[index])) : null;
      const middle = all.length ? all.map(entry => entry[0]).sort((a, b) => a - b)[all.length >> 1] : null;
      const known = recent.filter(entry => entry.count !== null);
      const perSecond = known.reduce((sum, entry) => sum + entry.count, 0) / (known.length || 1);
      replace(figures, [["live.persecond", decimal(perSecond)], ["live.median", duration(middle)],
        ["live.worst", duration(highest(2))],
        ["live.total", number(total)], ["live.misses", `${number(misses)} · ${share(misses, total)}`]]
        .map(([key, text]) => h("dl.stat", {}, h("dt", {}, t(key)), h("dd", {}, text))));
      rate.draw([history.map(entry => entry.count)], n => decimal(n) + " /s");
      latency.draw([0, 1, 2].map(index => history.map(entry => entry.latencies?.[index] ?? null)), duration);
    }

    async function state() {
      refresh = performance.now() + statusPause;
      try {
        const status = await context.api.get("/v1/status");
        keep(problems, status.problems.map(problem => h("div.notice.warn", {},
          h("p", {}, h("strong", {}, value(problem.message)), " ", value(problem.remedy)))));
        for (const { name, state: now } of status.inputs) {
          if (states.has(name) && states.get(name) !== now) context.announce(`${name}: ${t("live.is." + now)}`);
          states.set(name, now);
        }
        keep(inputs, status.inputs.length === 0 ? h("p.muted", {}, t("live.noinputs"))
          : h("ul.list", {}, status.inputs.map(input => h("li", {},
          h("div.row", {}, h(input.state === "open" ? "span.badge.good" : input.state === "closed" ? "span.badge.bad"
            : "span.badge.warn", {}, t("live.is." + input.state)),
            h("strong", {}, value(input.name)), value(input.message, { class: "muted small" })),
          h("p.small.muted", {}, t("live.inputn", { scans: number(input.scans), misses: number(input.misses) }),
            input.lastScan ? ` · ${t("live.last")} ${time(input.lastScan).slice(11)}` : null)))));
        const uploads = await context.api.get("live", { at: null });
        keep(targets, uploads.targets.length === 0 ? h("p.muted", {}, t("live.notargets"))
          : table(t("live.targets"), [t("live.target"), [t("queue.is.waiting")], [t("queue.is.sending")],
          [t("queue.is.parked")]],
          uploads.targets.map(target => h("tr", {}, h("th", { scope: "row" }, value(target.name)),
            ["waiting", "sending", "parked"].map(which => {
            const n = target[which];
            return h(which === "parked" && n > 0 ? "td.number.bad" : "td.number", {}, number(n) + (uploads.complete ? "" : "+"));
          })))),
        status.queue && h("p.small.muted", {}, t("live.delivered",
          { n: number(status.queue.delivered), of: number(status.queue.enqueued) })));
      } catch (error) {
        if (error.name !== "AbortError" && error.status !== 0) replace(inputs, h("p.bad", {}, value(error.message)));
      }
    }

    context.page(t("nav.live"),
      h("div.head", {}, h("div.row", {}, connection, pause)), problems,
      h("section.card", {}, figures, h("div.cards", {}, rate.element, latency.element)),
      h("div.cards", {}, h("section.card", {}, h("h2", {}, t("live.inputs")), inputs),
        h("section.card", {}, h("h2", {}, t("live.targets")), targets)),
      h("section.card.scans", {}, h("h2", {}, t("live.scans")), none, list));
    draw();
    figure();
    const timer = setInterval(() => {
      second();
      if (!document.hidden && performance.now() >= refresh) state();
    }, 1000);
    let wasConnected = null;
    context.api.events("/v1/events", heard, { parameters: { latency: "true" }, changed(connected) {
      if (connected === wasConnected) return;
      wasConnected = connected;
      connection.className = "badge " + (connected ? "good" : "bad");
      connection.textContent = t(connected ? "live.connected" : "live.disconnected");
    } });
    state();
    return { update: () => true, leave() {
      clearInterval(timer);
      cancelAnimationFrame(frame);
    } };
  },
};

/** Shows content anew only if it says something else, so that a region that is read aloud stays quiet. */
function keep(place, ...children) {
  const made = h("div", {}, children);
  if (place.textContent !== made.textContent) replace(place, ...made.childNodes);
}

/** A small chart of the last seconds: lines over the same scale, with the highest value as text. */
function chart(title, classes) {
  const width = 240, height = 56;
  const lines = classes.map(name => s("path." + name, {}));
  const svg = s("svg.chart", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": title },
    s("path.axis", { d: `M0 ${height}H${width}` }), lines);
  const highest = h("span.muted");
  const names = classes.length > 1 ? h("span.legend", { "aria-hidden": "true" },
    ["p50", "p95", "p99"].map((text, index) => h("span." + classes[index], {}, text))) : null;
  return {
    element: h("figure.figure", {}, h("figcaption.row.between", {}, h("span.label", {}, title), names, highest), svg),
    draw(series, format) {
      const top = Math.max(...series.flat().filter(n => n !== null), 0);
      series.forEach((entries, index) => {
        let path = "", pen = "M";
        entries.forEach((n, x) => {
          if (n === null) return;
          path += `${pen}${(x * width / (entries.length - 1)).toFixed(1)} ${(height - 2 - (top > 0 ? n / top : 0) * (height - 6)).toFixed(1)}`;
          pen = "L";
        });
        lines[index].setAttribute("d", path || "M0 0");
      });
      highest.textContent = "≤ " + format(top);
      svg.setAttribute("aria-label", `${title}: ${highest.textContent}`);
    },
  };
}
