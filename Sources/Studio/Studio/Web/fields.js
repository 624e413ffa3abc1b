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
/** The columns that a table of products can have: the fields, and the number of codes. */
export const columnNames = [...fieldNames, "codes"];
export const defaultColumns = ["barcode", "name", "brand", "category", "updateTime"];

/** A field's name for people. */
export function fieldTitle(field) {
  return t("field." + field);
}

/** A field as a column of a table. */
export function fieldColumn(field) {
  const [, width, kind] = byName.get(field) ?? (field === "codes" ? [field, "6rem", "number"] : [field, "8rem"]);
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
