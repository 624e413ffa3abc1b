// Asks for the first rows of the usual table before the modules are there: they and the rows arrive at the same time.
//
// A script and no module, because modules run when all of them have arrived. api.js takes the answer if the page asks for the
// same; the address has to be the one that pages/products.js asks for.

"use strict";

{
  // As `root` in api.js: a proxy may have put something in front of /studio/.
  const root = new URL("..", document.currentScript.src).pathname;
  const url = root + "api/products?columns=barcode%2Cname%2Cbrand%2Ccategory%2CupdateTime&offset=0&limit=100";
  // As takeToken() in api.js.
  const match = /^#t=(.+)$/.exec(location.hash);
  let token = match ? match[1] : sessionStorage.getItem("shelfmark.token:" + root);
  try { token = match ? decodeURIComponent(token).trim() : token; } catch { /* Not percent-encoded. */ }
  if ([root + "products", root + "products/"].includes(location.pathname) && location.search === "") {
    const headers = { Accept: "application/json" };
    if (token) headers.Authorization = "Bearer " + token;
    // With the origin, because the address of the page may have a user and a password, which a request must not have.
    const answer = fetch(location.origin + url, {
      headers, cache: "no-store", credentials: "same-origin", redirect: "error", referrerPolicy: "no-referrer",
    }).then(async response => {
      const text = await response.text();
      return {
        ok: response.ok, status: response.status, statusText: response.statusText,
        text: async () => text, json: async () => JSON.parse(text),
      };
    });
    // The page hears of a failure when it takes the answer.
    answer.catch(() => {});
    globalThis.shelfmarkFirst = { url, answer };
  }
}
