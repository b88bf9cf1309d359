// Items as a person sees them: a text, an image, or rows of one table. What is foreign is set as text.

import { make } from "./parts.js";

const SMALL = 64; // pixels: images up to this size are shown enlarged, pixel by pixel

function showImage(item) {
  const image = make("img", { src: item.image, alt: `picture ${item.id}`, draggable: "false" });
  const look = () => image.classList.toggle("pixels", Math.max(image.naturalWidth, image.naturalHeight) <= SMALL);
  image.addEventListener("load", look);
  image.addEventListener("error", () => image.replaceWith(make("span", { class: "item" }, `The picture ${item.id} could not be shown.`)));
  return image;
}

function showFields(item) {
  return make("dl", { class: "facts" }, ...item.fields.flatMap(([name, value]) => [make("dt", { dir: "auto" }, name), make("dd", { dir: "auto" }, value)]));
}

export function showItem(item) {
  if (item.image) return showImage(item);
  if (item.fields) return showFields(item);
  return make("span", { class: "item", dir: "auto" }, item.text ?? `point ${item.id}`);
}

// What a screen reader is told of an item.
export function itemWords(item) {
  if (item.image) return `picture ${item.id}`;
  if (item.fields) return item.fields.map(([name, value]) => `${name} ${value}`).join(", ");
  return (item.text ?? `point ${item.id}`).slice(0, 500);
}

// Which of the values of a row differ: from that of `against`, or (null) from what most of them are.
function differing(values, against) {
  const times = (value) => values.filter((other) => other === value).length;
  if (against !== null) return values.map((value) => value !== values[against]);
  if (values.length === 2) return values.map(() => values[0] !== values[1]);
  return values.map((value) => times(value) === 1);
}

// Rows of a table side by side, with the cells that differ marked by color, weight, sign and word.
export function compareFields(items, places, against) {
  const names = [...new Set(items.flatMap((item) => item.fields.map(([name]) => name)))];
  const of = items.map((item) => new Map(item.fields));
  const table = make("table", { class: "compare" }, make("caption", { class: "unseen" }, "The items side by side"),
    make("colgroup", {}, make("col", { class: "names" }), ...places.map(() => make("col"))),
    make("thead", {}, make("tr", {}, make("td"), ...places.map((place) => make("th", { scope: "col" }, place)))));
  const body = make("tbody");
  for (const name of names) {
    const values = of.map((fields) => fields.get(name) ?? "");
    const marks = differing(values, against);
    body.append(make("tr", {}, make("th", { scope: "row", dir: "auto" }, name), ...values.map((value, k) => {
      const shown = value === "" ? make("span", { class: "note" }, "empty") : make("bdi", {}, value);
      if (!marks[k]) return make("td", {}, shown);
      return make("td", { class: "differs" }, make("span", { class: "sign", "aria-hidden": "true" }, "≠"), shown, make("span", { class: "unseen" }, " (differs)"));
    })));
  }
  table.append(body);
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "The items side by side" }, table);
}

// All items of a question: as one table where all are rows of one, side by side otherwise.
export function showItems(items, kind) {
  if (items.every((item) => item.fields)) return [compareFields(items, kind.places, kind.against)];
  return items.map((item, k) => make("figure", { class: `shown${item.image ? " picture" : ""}`, "data-place": k },
    make("figcaption", { class: kind.places.length === 2 ? "unseen" : null }, kind.places[k]), make("div", { class: "content" }, showItem(item))));
}
