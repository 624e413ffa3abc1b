// Numbers, bytes, times and shares as people read them, in the language of the page.

import { language } from "./text.js";

const formats = new Map();
function cached(key, make) {
  const name = language() + key;
  if (!formats.has(name)) formats.set(name, make(language()));
  return formats.get(name);
}

/** A count with separators: 2,430. */
export function number(n) {
  return n === null || n === undefined ? "–" : cached("n", l => new Intl.NumberFormat(l)).format(n);
}

/** A number with at most `digits` after the point. */
export function decimal(n, digits = 1) {
  return cached("d" + digits, l => new Intl.NumberFormat(l, { maximumFractionDigits: digits })).format(n);
}

/** A number of bytes with a binary unit: 812 bytes, 1.4 MiB. */
export function bytes(n) {
  if (n === null || n === undefined) return "–";
  if (n < 1024) return number(n) + " B";
  let unit = -1;
  do { n /= 1024; unit++; } while (n >= 1023.95 && unit < 4);
  return decimal(n, n < 10 ? 2 : 1) + " " + ["KiB", "MiB", "GiB", "TiB", "PiB"][unit];
}

/** A part of a whole: 12.5 %. */
export function share(part, whole) {
  if (!whole) return "–";
  return cached("p", l => new Intl.NumberFormat(l, { style: "percent",
    maximumFractionDigits: 1 })).format(part / whole);
}

function date(time) {
  if (time === null || time === undefined || time === "") return null;
  const value = new Date(time);
  return Number.isNaN(value.getTime()) ? null : value;
}

/** A time of a commit or scan, in this machine's zone: 2026-03-01 14:05:09. Anything else is shown as it is. */
export function time(text) {
  const value = date(text);
  if (!value) return text === null || text === undefined ? "–" : String(text);
  const two = n => String(n).padStart(2, "0");
  return `${value.getFullYear()}-${two(value.getMonth() + 1)}-${two(value.getDate())} `
    + `${two(value.getHours())}:${two(value.getMinutes())}:${two(value.getSeconds())}`;
}

/** How long ago a time is: 3 minutes ago. */
export function ago(text, now = Date.now()) {
  const value = date(text);
  if (!value) return "–";
  const seconds = Math.round((value.getTime() - now) / 1000);
  const format = cached("a", l => new Intl.RelativeTimeFormat(l, { numeric: "auto" }));
  for (const [unit, size] of [["year", 31557600], ["month", 2629800], ["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= size) return format.format(Math.round(seconds / size), unit);
  }
  return format.format(seconds, "second");
}

/** A duration in seconds: 850 µs, 12 ms, 3.2 s. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.001) return decimal(seconds * 1e6, 0) + " µs";
  if (seconds < 1) return decimal(seconds * 1000, seconds < 0.01 ? 2 : 0) + " ms";
  return decimal(seconds, 1) + " s";
}
