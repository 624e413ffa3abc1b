// Requests to the server: with the token, JSON, streams of lines and of events, and errors that say what happened.

/** The path of the studio: `/studio/`, with what a proxy in front of the server puts before it. */
export const root = new URL("..", import.meta.url).pathname;
/** The path of the daemon that serves the studio; the paths of its own interface follow. */
const daemon = new URL("../..", import.meta.url).pathname.slice(0, -1);
const base = root + "api/";
/** A tab may show several studios of one origin, each below a path of its own. */
const tokenKey = "shelfmark.token:" + root;

/** What a request answered instead of data: `status` (0 without a connection), `code`, and a message for people. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Takes the token out of the address, keeps it for this tab, and removes it from the address bar. */
export function takeToken() {
  const match = /^#t=(.+)$/.exec(location.hash);
  if (match) {
    let token = match[1];
    try { token = decodeURIComponent(token); } catch { /* Not percent-encoded: the token is what stands there. */ }
    setToken(token);
    history.replaceState(history.state, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(tokenKey);
}

export function setToken(token) {
  if (token) sessionStorage.setItem(tokenKey, token.trim());
  else sessionStorage.removeItem(tokenKey);
}

/**
 * The address of a resource of the studio, or of the daemon if its path begins with a slash, with parameters; null,
 * undefined, "" and false are left out.
 */
export function address(path, parameters) {
  const query = new URLSearchParams();
  for (const key in parameters) {
    const value = parameters[key];
    if (value !== null && value !== undefined && value !== "" && value !== false) query.append(key, value);
  }
  const text = query.toString();
  return (path.startsWith("/") ? daemon + path : base + path) + (text ? "?" + text : "");
}

/**
 * A text as a part of a path. Browsers take `.` and `..` out of an address, also percent-encoded ones, so a tilde goes
 * before them, and before what begins with a tilde.
 */
export function segment(text) {
  return encodeURIComponent(/^(\.\.?$|~)/.test(text) ? "~" + text : text);
}

/** The text of a part of a path that `segment` has made. */
export function textOfSegment(part) {
  let text = part;
  try { text = decodeURIComponent(part); } catch { /* Not percent-encoded: the text is what stands there. */ }
  return text.replace(/^~/, "");
}

/** Whether this browser tells the digits of numbers. Without that, editing could change numbers that nobody touched. */
export const keepsDigits = typeof JSON.rawJSON === "function";

/** A number of JSON whose digits a number of JavaScript would change: 9007199254740993, 1.10, -0.0. */
export class ExactNumber {
  constructor(digits) { this.digits = digits; }
  toString() { return this.digits; }
  toJSON() { return JSON.rawJSON(this.digits); }
}

/**
 * Parses JSON. Numbers that JavaScript would change are an `ExactNumber`: with `exact` all whose digits it writes in another
 * way, otherwise whole numbers beyond what it can tell apart.
 */
export function parseJSON(text, exact = false) {
  if (!keepsDigits) return JSON.parse(text);
  return JSON.parse(text, (_, item, { source }) => typeof item === "number"
    && (exact ? String(item) !== source : Number.isInteger(item) && !Number.isSafeInteger(item))
    ? new ExactNumber(source) : item);
}

/** The answer to the request that first.js has made, for the first one who asks for the same. */
function takeFirst(method, url) {
  const first = globalThis.shelfmarkFirst;
  // What is asked for later is to be as new as the store is then.
  globalThis.shelfmarkFirst = null;
  return method === "GET" && first?.url === url ? first.answer : null;
}

async function request(method, url, { body, signal, accept } = {}) {
  const headers = { Accept: accept ?? "application/json" };
  const token = sessionStorage.getItem(tokenKey);
  if (token) headers.Authorization = "Bearer " + token;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await (takeFirst(method, url) ?? fetch(location.origin + url, {
      method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store", credentials: "same-origin", redirect: "error", referrerPolicy: "no-referrer",
    }));
    // The request of first.js has no signal.
    signal?.throwIfAborted();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "");
  }
  if (response.ok) return response;
  let code = "http" + response.status, message = response.statusText;
  try {
    const answer = await response.json();
    code = answer.error.code ?? code;
    message = answer.error.message ?? message;
  } catch (error) {
    if (error.name === "AbortError") throw error;
  }
  if (response.status === 401) dispatchEvent(new CustomEvent("studio:unauthorized"));
  throw new ApiError(response.status, code, message);
}

/**
 * Requests for one view. `at()` gives the commit that answers are to be of (null: the newest), `seen(sequence)` hears
 * the commit of each answer, and `signal` ends all requests when the view is left.
 */
export function createApi({ at = () => null, seen = () => {}, signal } = {}) {
  const both = other => other && signal ? AbortSignal.any([other, signal]) : other ?? signal;
  const withAt = (path, parameters) =>
    path.startsWith("/") ? parameters : { at: at(), ...parameters };

  async function json(method, path, parameters, options = {}) {
    const response = await request(method, address(path, withAt(path, parameters)),
      { ...options, signal: both(options.signal) });
    const text = await response.text();
    const answer = text === "" ? null : parseJSON(text, options.exact);
    // A request that names a commit of its own says nothing about the commit of the view.
    const isOfView = method === "GET" && !("at" in (parameters ?? {}));
    if (isOfView && typeof answer?.sequence === "number") seen(answer.sequence);
    return answer;
  }

  return {
    /** The JSON answer to GET; with the option `exact`, numbers keep their digits. */
    get: (path, parameters, options) => json("GET", path, parameters, options),
    /** The JSON answer to another method with a JSON body; `at` is not sent. */
    send: (method, path, body, options) => json(method, path, { at: null }, { ...options, body }),
    /** The address of an export, as a link shows it. */
    link: (path, parameters) => address(path, withAt(path, parameters)),
    /** Each line of a streamed NDJSON answer, parsed. */
    async *lines(method, path, { body, parameters, signal: other } = {}) {
      const response = await request(method, address(path, parameters), { body, signal: both(other),
        accept: "application/x-ndjson" });
      for await (const line of textLines(response.body)) {
        if (line !== "") yield parseJSON(line);
      }
    },
    /**
     * Server-sent events until the view is left: `heard(name, data)` with `data` parsed if it is JSON. Connects again
     * after one second, then two, four … up to fifteen. `changed(connected)` hears about the connection.
     */
    async events(path, heard, { signal: other, parameters = {}, changed = () => {} } = {}) {
      const stop = both(other);
      let delay = 1000;
      let last = null;
      while (!stop?.aborted) {
        try {
          const response = await request("GET", address(path, { ...parameters, lastEventId: last }),
            { signal: stop, accept: "text/event-stream" });
          changed(true);
          let name = "message", data = [];
          for await (const line of textLines(response.body)) {
            delay = 1000;
            if (line === "") {
              if (data.length > 0) heard(name, parsed(data.join("\n")));
              name = "message";
              data = [];
              continue;
            }
            const colon = line.indexOf(":");
            if (colon === 0) continue;
            const key = colon < 0 ? line : line.slice(0, colon);
            const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
            if (key === "event") name = text;
            else if (key === "data") data.push(text);
            else if (key === "id") last = text;
          }
        } catch (error) {
          if (stop?.aborted || error.status === 401 || error.status === 403 || error.status === 404) return;
        }
        if (stop?.aborted) return;
        changed(false);
        await new Promise(resolve => setTimeout(resolve, delay));
        delay = Math.min(delay * 2, 15000);
      }
    },
    /** Fetches an export and offers it as a file. The browser keeps large ones on disk, not in this page. */
    async download(url, name) {
      const response = await request("GET", url, { accept: "*/*" });
      const file = URL.createObjectURL(await response.blob());
      const link = document.createElement("a");
      link.href = file;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(file), 60000);
    },
  };
}

function parsed(text) {
  try { return parseJSON(text); } catch { return text; }
}

async function* textLines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      rest += value;
      const lines = rest.split("\n");
      rest = lines.pop();
      for (const line of lines) yield line.endsWith("\r") ? line.slice(0, -1) : line;
    }
    if (rest !== "") yield rest;
  } finally {
    reader.cancel().catch(() => {});
  }
}
