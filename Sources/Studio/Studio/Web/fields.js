// The fields of a product: their order in the panel, and how a table shows them.

import { t } from "./text.js";

/** Field, width as a column, kind: "number", "code" (fixed width), "flag" or text. */
const all = [
  ["id", "12.5rem", "code"], ["barcode", "9.75rem", "code"], ["name", "minmax(16rem, 3fr)"],
  ["brand", "minmax(8rem, 1fr)"], ["brandId", "8rem", "code"], ["category", "minmax(7rem, .6fr)"],
  ["categoryId", "8rem", "number"], ["unit", "7rem"], ["skuCode", "8rem", "code"], ["groupNum", "6rem", "number"],
  ["isSaleProduct", "6rem", "flag"], ["isMarketingProduct", "6rem", "flag"], ["isGroupedProduct", "6rem", "flag"],
  ["isGreeProduct", "6rem", "flag"], ["weight", "6rem", "number"], ["volume", "6rem", "number"],
  ["length", "6rem", "number"], ["wide", "6rem", "number"], ["tall", "6rem", "number"], ["delFlag", "6rem", "number"],
  ["orgId", "8rem", "code"], ["createBy", "8rem"], ["createTime", "11rem"], ["updateBy", "8rem"],
    ["updateTime", "11rem"],
];
const byName = new Map(all.map(entry => [entry[0], entry]));

export const fieldNames = all.map(entry => entry[0]);
/** What has to do with codes: how many a product has, and all of them. */
const codeColumns = new Map([["codeCount", ["codeCount", "7rem", "number"]],
  ["codes", ["codes", "minmax(17rem, 1fr)", "code"]]]);
/** What the name of a column begins with that is a field of one's own. */
const ownPrefix = "extra.";

/** The columns that a table of products can have: the fields, codes if there are any, and declared fields. */
export function columnNames(store) {
  return [...fieldNames, ...store?.codes > 0 ? codeColumns.keys() : [],
    ...(store?.fields ?? []).filter(one => !one.name.includes(",")).map(one => ownName(one.name))];
}

/** A field of one's own as the name of a column, a filter and an order. */
export function ownName(name) {
  return ownPrefix + name.replace(/[\\.]/gu, "\\$&");
}

/** The name of a field of one's own, as products have it. */
function plainName(column) {
  return column.slice(ownPrefix.length).replace(/\\(.)/gsu, "$1");
}

/** Whether a table can have a column, also one of a field that is not declared. */
export function isColumn(name) {
  return byName.has(name) || codeColumns.has(name) || isOwn(name);
}

/** Whether a name is that of a field of one's own. */
export function isOwn(name) {
  return name.startsWith(ownPrefix) && name.length > ownPrefix.length;
}

/** What a product has in a column. Results of a search have fields of one's own together, and codes as a list. */
export function cellContent(product, name) {
  if (name === "codes") return product.codes && codesText(product.codes);
  if (name === "codeCount") return product.codeCount ?? product.codes?.length;
  if (!isOwn(name)) return product[name];
  return product[ownPrefix + plainName(name)] ?? product.extra?.[plainName(name)];
}

export const defaultColumns = ["barcode", "name", "brand", "category", "updateTime"];

/** A field's name for people. */
export function fieldTitle(field) {
  if (isOwn(field)) return plainName(field);
  return t("field." + field);
}

/** A field as a column of a table. */
export function fieldColumn(field, store) {
  const own = isOwn(field) ? store?.fields?.find(one => ownName(one.name) === field) : undefined;
  const ownKind = own?.code ? "code" : ["decimal", "int"].includes(own?.type) ? "number" : undefined;
  const [, width, kind] = byName.get(field) ?? codeColumns.get(field) ?? [field, own?.code ? "9.75rem" : "8rem", ownKind];
  return { field, title: fieldTitle(field), width, number: kind === "number", code: kind === "code",
    flag: kind === "flag" };
}

/** How a field is written: "flag", "number", or nothing for a text. */
export function fieldKind(field) {
  const kind = byName.get(field)?.[2];
  return kind === "code" ? undefined : kind;
}

/** Whether a field has words of a language, which are compared as its readers expect. */
export function hasWords(field) {
  return ["name", "brand", "category", "unit", "createBy", "updateBy"].includes(field);
}

/** What a code of the table of codes is on: "24 pieces, case". */
export function packageText({ quantity, unit }) {
  const pieces = String(quantity);
  return t(pieces === "1" ? "codes.piece" : "codes.pieces", { n: pieces }) + (unit ? ", " + unit : "");
}

/** The codes of a product as text, one after another. */
export function codesText(codes) {
  return codes.map(one => `${one.code} (${[packageText(one), one.kind].filter(Boolean).join(", ")})`).join("; ");
}

/** A value as text: yes and no for flags, nothing for what is absent. */
export function fieldText(content) {
  if (content === null || content === undefined) return "";
  if (typeof content === "boolean") return t(content ? "yes" : "no");
  return typeof content === "object" ? JSON.stringify(content) : String(content);
}
