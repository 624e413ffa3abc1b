// Barcodes as SVG: EAN-13, EAN-8 and UPC-A (ISO/IEC 15420), Code 128 (ISO/IEC 15417), QR (ISO/IEC 18004, level M).

import { s } from "./dom.js";

/** The widths of a digit's four elements in set A; set B is set C backwards, and set C has the widths of A. */
const digitWidths = ["3211", "2221", "2122", "1411", "1132", "1231", "1114", "1312", "1213", "3112"];
/** Which of the six left digits of EAN-13 are in set B, as bits from the left, by the first digit. */
const leftSets = [0, 0b001011, 0b001101, 0b001110, 0b010011, 0b011001, 0b011100, 0b010101, 0b010110, 0b011010];

/** Whether a GTIN's last digit is its check digit. */
export function checks(digits) {
  let sum = 0;
  for (let i = digits.length - 2, weight = 3; i >= 0; i--, weight = 4 - weight) sum += weight * Number(digits[i]);
  return (10 - sum % 10) % 10 === Number(digits.at(-1));
}

/** Which linear symbology shows a text: "EAN-13", "UPC-A", "EAN-8", "Code 128", or null. */
export function symbology(text) {
  if (/^\d+$/.test(text) && checks(text)) {
    const name = { 8: "EAN-8", 12: "UPC-A", 13: "EAN-13" }[text.length];
    if (name) return name;
  }
  return /^[ -~]{1,48}$/.test(text) ? "Code 128" : null;
}

/** A linear barcode as an SVG element that is named after its symbology and text; null if none can show the text. */
export function barcode(text) {
  const name = symbology(text);
  if (name === null) return null;
  return name === "Code 128" ? drawn(name, code128(text), text, []) : retail(name, text);
}

/** Runs of bars and spaces, beginning with a bar, from strings of widths. */
function runs(...parts) {
  return Array.from(parts.join(""), Number);
}

function retail(name, text) {
  const backwards = widths => Array.from(widths).reverse().join("");
  const digits = name === "UPC-A" ? "0" + text : text;
  const half = digits.length === 8 ? 4 : 6;
  const left = digits.length === 8 ? digits.slice(0, 4) : digits.slice(1, 7);
  const sets = digits.length === 8 ? 0 : leftSets[Number(digits[0])];
  const widths = runs("111",
    ...Array.from(left, (digit, i) => sets >> (half - 1 - i) & 1 ? backwards(digitWidths[digit]) : digitWidths[digit]),
    "11111", ...Array.from(digits.slice(-half), digit => digitWidths[digit]), "111");
  // Digits stand below their halves; the first of EAN-13 and both ends of UPC-A stand outside.
  const right = 3 + 7 * half + 5;
  const labels = name === "UPC-A"
    ? [[text[0], -5, 4], [text.slice(1, 6), 11, 33], [text.slice(6, 11), 51, 33], [text[11], 97, 4]]
    : [[left, 4, 7 * half - 2], [digits.slice(-half), right + 1, 7 * half - 2]];
  if (name === "EAN-13") labels.unshift([digits[0], -8, 5]);
  const isGuard = x => x < 3 || x >= right + 7 * half || (x >= right - 5 && x < right)
    || (name === "UPC-A" && (x < 10 || x >= right + 7 * half - 7));
  return drawn(name, widths, text, labels, isGuard);
}

/** Code 128's widths for values 0 to 105, and the stop pattern. */
const patterns = ("212222222122222221121223121322131222122213122312132212221213221312231212112232122132122231113222"
  + "123122123221223211221132221231213212223112312131311222321122321221312212322112322211212123212321"
  + "232121111323131123131321112313132113132311211313231113231311112133112331132131113123113321133121"
  + "313121211331231131213113213311213131311123311321331121312113312311332111314111221411431111111224"
  + "111422121124121421141122141221112214112412122114122411142112142211241211221114413111241112134111"
  + "111242121142121241114212124112124211411212421112421211212141214121412121111143111341131141114113"
  + "114311411113411311113141114131311141411131211412211214211232").match(/.{6}/g);
const stop = "2331112";

/** Set C for runs of digits that are long enough to pay for the switch, set B for all else. */
function code128(text) {
  const values = [];
  let inC = false;
  for (let i = 0; i < text.length;) {
    const digits = /^\d*/.exec(text.slice(i))[0].length;
    const toC = !inC && digits >= (i === 0 || i + digits === text.length ? 4 : 6);
    if (toC && digits % 2 === 1) {
      // An odd digit goes first, in set B.
      if (values.length === 0) values.push(104);
      values.push(text.charCodeAt(i++) - 32, 99);
      inC = true;
    } else if (toC) {
      values.push(values.length === 0 ? 105 : 99);
      inC = true;
    } else if (values.length === 0) {
      values.push(104);
    }
    if (inC && digits < 2 && !toC) {
      values.push(100);
      inC = false;
    }
    if (inC) {
      values.push(Number(text.slice(i, i + 2)));
      i += 2;
    } else {
      values.push(text.charCodeAt(i++) - 32);
    }
  }
  const check = values.reduce((sum, value, i) => sum + value * Math.max(1, i), 0) % 103;
  return runs(...values.map(value => patterns[value]), patterns[check], stop);
}

function drawn(name, widths, text, labels, isGuard = () => false) {
  const quiet = 11, height = 52;
  let path = "", x = 0;
  widths.forEach((width, i) => {
    if (i % 2 === 0) path += `M${x} 0h${width}v${labels.length > 0 && isGuard(x) ? height + 5 : height}h-${width}z`;
    x += width;
  });
  const label = (content, from, length) => s("text", {
    x: from, y: height + 10, textLength: length, lengthAdjust: "spacing", "font-size": 10, fill: "#000",
  }, content);
  return s("svg.barcode", {
    viewBox: `${-quiet} -4 ${x + 2 * quiet} ${height + 18}`, role: "img", "aria-label": `${name} ${text}`,
    data: { symbology: name },
  }, s("rect", { x: -quiet, y: -4, width: x + 2 * quiet, height: height + 18, fill: "#fff" }),
  s("path", { d: path, fill: "#000", "shape-rendering": "crispEdges" }),
  labels.length > 0 ? labels.map(one => label(...one))
    : s("text", { x: x / 2, y: height + 10, "text-anchor": "middle", "font-size": 9, fill: "#000",
      textLength: text.length * 6 > x ? x : null, lengthAdjust: "spacingAndGlyphs" }, text));
}

// QR

/** Check codewords of a block, and blocks, at level M for versions 1 to 20 (ISO/IEC 18004, table 9). */
const checkWords = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const blockCounts = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];

/** Powers and logarithms in GF(256) with the polynomial 0x11d. */
const power = new Uint8Array(512), logarithm = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i++) {
  power[i] = power[i + 255] = x;
  logarithm[x] = i;
  x = x << 1 ^ (x & 0x80 ? 0x11d : 0);
}

function remainder(data, degree) {
  let generator = [1];
  for (let i = 0; i < degree; i++) {
    const next = new Array(generator.length + 1).fill(0);
    generator.forEach((factor, j) => {
      next[j] ^= factor;
      if (factor) next[j + 1] ^= power[logarithm[factor] + i];
    });
    generator = next;
  }
  const rest = [...data, ...new Array(degree).fill(0)];
  for (let i = 0; i < data.length; i++) {
    const factor = rest[i];
    if (factor === 0) continue;
    // No factor of these generators is 0.
    for (let j = 1; j <= degree; j++) rest[i + j] ^= power[logarithm[generator[j]] + logarithm[factor]];
  }
  return rest.slice(data.length);
}

function alignments(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2, size = version * 4 + 17;
  const step = Math.ceil((size - 13) / (2 * count - 2)) * 2;
  const result = [];
  for (let at = size - 7; result.length < count - 1; at -= step) result.unshift(at);
  return [6, ...result];
}

/** How many bits of a version are left for codewords. */
function rawBits(version) {
  const size = version * 4 + 17, n = alignments(version).length;
  const taken = n === 0 ? 0 : (n * n - 3) * 25 - 2 * (n - 2) * 5;
  return size * size - 3 * 64 - 31 - 2 * (size - 16) - taken - (version >= 7 ? 36 : 0);
}

/** The modules of a QR code as rows of 0 and 1; null if the text is longer than version 20 holds (666 bytes). */
export function qrModules(text) {
  const bytes = new TextEncoder().encode(text);
  let version = 1, dataCount = 0;
  for (;; version++) {
    if (version > 20) return null;
    dataCount = (rawBits(version) >> 3) - checkWords[version - 1] * blockCounts[version - 1];
    if (bytes.length + (version < 10 ? 2 : 3) <= dataCount) break;
  }
  let bits = "0100" + bytes.length.toString(2).padStart(version < 10 ? 8 : 16, "0");
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  bits += "0".repeat(Math.min(4, dataCount * 8 - bits.length));
  bits += "0".repeat((8 - bits.length % 8) % 8);
  const data = bits.match(/.{8}/g).map(byte => parseInt(byte, 2));
  for (let pad = 0xec; data.length < dataCount; pad ^= 0xfd) data.push(pad);

  const blocks = blockCounts[version - 1], degree = checkWords[version - 1];
  const short = Math.floor(dataCount / blocks), long = dataCount % blocks;
  const parts = [];
  for (let i = 0, at = 0; i < blocks; i++) {
    const length = short + (i >= blocks - long ? 1 : 0);
    const part = data.slice(at, at += length);
    parts.push([part, remainder(part, degree)]);
  }
  const words = [];
  for (let i = 0; i <= short; i++) for (const [part] of parts) if (i < part.length) words.push(part[i]);
  for (let i = 0; i < degree; i++) for (const [, check] of parts) words.push(check[i]);

  const size = version * 4 + 17;
  const modules = Array.from({ length: size }, () => new Uint8Array(size));
  const fixed = Array.from({ length: size }, () => new Uint8Array(size));
  const put = (x, y, dark) => {
    if (x < 0 || y < 0 || x >= size || y >= size) return;
    modules[y][x] = dark ? 1 : 0;
    fixed[y][x] = 1;
  };
  for (let i = 0; i < size; i++) put(i, 6, i % 2 === 0), put(6, i, i % 2 === 0);
  for (const [cx, cy] of [[3, 3], [size - 4, 3], [3, size - 4]]) {
    for (let y = -4; y <= 4; y++) for (let x = -4; x <= 4; x++) {
      const ring = Math.max(Math.abs(x), Math.abs(y));
      put(cx + x, cy + y, ring !== 2 && ring !== 4);
    }
  }
  const centres = alignments(version), end = centres.length - 1;
  centres.forEach((cx, i) => centres.forEach((cy, j) => {
    if ((i === 0 && j === 0) || (i === 0 && j === end) || (i === end && j === 0)) return;
    for (let y = -2; y <= 2; y++) for (let x = -2; x <= 2; x++) put(cx + x, cy + y,
      Math.max(Math.abs(x), Math.abs(y)) !== 1);
  }));
  if (version >= 7) {
    let rest = version;
    for (let i = 0; i < 12; i++) rest = rest << 1 ^ (rest >> 11) * 0x1f25;
    const value = version << 12 | rest;
    for (let i = 0; i < 18; i++) {
      const a = size - 11 + i % 3, b = Math.floor(i / 3);
      put(a, b, value >> i & 1);
      put(b, a, value >> i & 1);
    }
  }
  const format = mask => {
    // Level M is 00; the 15 bits are covered with 0x5412.
    let rest = mask;
    for (let i = 0; i < 10; i++) rest = rest << 1 ^ (rest >> 9) * 0x537;
    const value = (mask << 10 | rest) ^ 0x5412;
    for (let i = 0; i < 15; i++) {
      const dark = value >> i & 1;
      if (i < 6) put(8, i, dark);
      else if (i < 8) put(8, i + 1, dark);
      else if (i === 8) put(7, 8, dark);
      else put(14 - i, 8, dark);
      if (i < 8) put(size - 1 - i, 8, dark);
      else put(8, size - 15 + i, dark);
    }
    put(8, size - 8, true);
  };
  format(0);
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++) {
      const y = (right + 1 & 2) === 0 ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (fixed[y][x] || bit >= words.length * 8) continue;
        modules[y][x] = words[bit >> 3] >> (7 - (bit & 7)) & 1;
        bit++;
      }
    }
  }
  const masks = [
    (x, y) => (x + y) % 2, (x, y) => y % 2, x => x % 3, (x, y) => (x + y) % 3,
    (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => x * y % 2 + x * y % 3,
    (x, y) => (x * y % 2 + x * y % 3) % 2, (x, y) => ((x + y) % 2 + x * y % 3) % 2,
  ];
  const cover = mask => {
    for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) if (!fixed[y][x]
      && masks[mask](x, y) === 0) modules[y][x] ^= 1;
  };
  let best = 0, least = Infinity;
  for (let mask = 0; mask < 8; mask++) {
    cover(mask);
    format(mask);
    const points = penalty(modules);
    if (points < least) [best, least] = [mask, points];
    cover(mask);
  }
  cover(best);
  format(best);
  return modules;
}

/** How hard a pattern is to read: long runs, squares, what looks like a finder, and the share of dark modules. */
function penalty(modules) {
  const size = modules.length;
  let points = 0, dark = 0;
  const line = text => {
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) points += run.length - 2;
    for (let i = -1; (i = text.indexOf("1011101", i + 1)) >= 0;) {
      if (text.slice(Math.max(0, i - 4), i).padStart(4, "0") === "0000" || text.slice(i + 7, i + 11).padEnd(4,
        "0") === "0000") points += 40;
    }
  };
  for (let y = 0; y < size; y++) {
    line(modules[y].join(""));
    line(modules.map(row => row[y]).join(""));
    for (let x = 0; x < size; x++) {
      dark += modules[y][x];
      if (x > 0 && y > 0 && modules[y][x] === modules[y - 1][x] && modules[y][x] === modules[y][x - 1]
        && modules[y][x] === modules[y - 1][x - 1]) points += 3;
    }
  }
  return points + Math.floor(Math.abs(dark * 20 / (size * size) - 10)) * 10;
}

/** A QR code as an SVG element; null if the text is empty or too long. */
export function qr(text) {
  const modules = text === "" ? null : qrModules(text);
  if (modules === null) return null;
  const size = modules.length;
  let path = "";
  modules.forEach((row, y) => row.forEach((dark, x) => { if (dark) path += `M${x} ${y}h1v1h-1z`; }));
  return s("svg.qr", { viewBox: `-4 -4 ${size + 8} ${size + 8}`, role: "img", "aria-label": "QR " + text,
    data: { symbology: "QR" } },
    s("rect", { x: -4, y: -4, width: size + 8, height: size + 8, fill: "#fff" }),
    s("path", { d: path, fill: "#000", "shape-rendering": "crispEdges" }));
}
