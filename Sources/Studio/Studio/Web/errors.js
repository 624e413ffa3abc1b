// Errors in words.

import { h } from "./dom.js";
import { t } from "./text.js";

/** An error in words, with a button that tries again. */
export function errorBox(error, again) {
  return h("div.notice.bad", { role: "alert" },
    h("p", {}, h("bdi", {}, messageOf(error))),
    again && h("button.button", { type: "button", onclick: again }, t("retry")));
}

/** What to tell a person about an error. */
export function messageOf(error) {
  if (error.code === "unreachable") return t("error.unreachable");
  if (error.code === "unknownCommit" || error.code === "unknownEarlierCommit") {
    return t("error." + error.code) + " " + error.message;
  }
  return error.message || t("error.page");
}
