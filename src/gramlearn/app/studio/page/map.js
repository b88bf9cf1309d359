// The map before and now on one canvas, with what was judged as lines: alike whole, unlike dashed, suspects with a mark.

import { itemWords, showItem } from "./items.js";
import { Movement, toUnitSquare } from "./plane.js";
import { draw, make, plural, whole } from "./parts.js";
import { ARROWS, nearestTo, nextThatWay, placeTip } from "./points.js";
import { say } from "./say.js";
import { get } from "./talk.js";
import { Thumbs } from "./thumbs.js";

const KEPT = 2000; // items that are not asked for again

function legendEntry(name, kind, shape) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 16");
  svg.setAttribute("aria-hidden", "true");
  for (const [tag, attributes, text] of shape) draw(svg, tag, attributes, text);
  return make("li", { class: kind }, svg, make("span", {}, name));
}

function makeLegend() {
  const line = { x1: 1, x2: 23, y1: 8, y2: 8, class: "whisker" };
  return make("ul", { class: "legend lines" },
    legendEntry("judged alike", "c-alike", [["line", line]]),
    legendEntry("judged unlike", "c-unlike", [["line", { ...line, "stroke-dasharray": "5 3" }]]),
    legendEntry("suspect", "c-mark", [["line", { ...line, "stroke-width": 4 }], ["circle", { cx: 12, cy: 8, r: 6.5, class: "badge" }], ["text", { x: 12, y: 12, "text-anchor": "middle" }, "!"]]));
}

// Suspects are answers; on the map each is the lines between its items.
function linesOf(answers, placeOf) {
  const lines = [];
  for (const { items } of answers) {
    const places = items.map((item) => placeOf.get(item.number)).filter((place) => place !== undefined);
    for (let k = 1; k < places.length; k += 1) lines.push([places[0], places[k]]);
  }
  return lines;
}

export function addMap() {
  const canvas = make("canvas", { id: "map", tabindex: 0, role: "application", "aria-roledescription": "map", "aria-labelledby": "map-title", "aria-describedby": "map-words map-keys" });
  const tip = make("div", { class: "tip", hidden: "", "aria-hidden": "true" });
  const holder = make("div", { class: "map" }, canvas, tip);
  const words = make("p", { class: "note", id: "map-words" });
  const choice = (value, name, checked) => make("label", {}, make("input", { type: "radio", name: "when", value, id: `map-${value}`, checked: checked ? "" : null }), ` ${name}`);
  const lined = make("input", { type: "checkbox", checked: "" });
  const pictured = make("input", { type: "checkbox", checked: "" });
  const tools = make("div", { class: "tools" },
    make("fieldset", {}, make("legend", { class: "unseen" }, "Which distances"), choice("before", "Before", false), choice("now", "Now", true)),
    make("label", {}, lined, " Lines"), make("label", { hidden: "" }, pictured, " Pictures"));
  const element = make("div", { class: "one-map" }, tools, makeLegend(), holder, words,
    make("p", { class: "note", id: "map-keys" }, "Point to see an item. Keys on the map: arrows go to the next point that way, Home and End to the first and last, Escape leaves."));

  let found = null, suspects = [], planes = null, judged = new Set(), at = -1, size = 0;
  const items = new Map();
  const movement = new Movement(paint);
  const thumbs = new Thumbs(itemOf, paint);
  const count = () => (found ? found.rows.length : 0);
  const color = (name) => getComputedStyle(element).getPropertyValue(name).trim();
  const when = () => element.querySelector("input[name=when]:checked").value;

  function paint() {
    if (!found || !size) return;
    const scale = Math.max(2, devicePixelRatio || 1), context = canvas.getContext("2d"), part = movement.part;
    const [ink, soft, alike, unlike, paper] = ["--ink", "--soft", "--alike", "--unlike", "--paper"].map(color);
    const places = found.rows.map((_, k) => movement.place(k, size, part));
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, size, size);
    const radius = Math.max(1.6, Math.min(4.5, 100 / Math.sqrt(count())));
    const stroke = ([a, b]) => {
      context.beginPath();
      context.moveTo(...places[a]);
      context.lineTo(...places[b]);
      context.stroke();
    };
    const dot = (k, fill, grow) => {
      context.beginPath();
      context.arc(...places[k], radius + grow, 0, 2 * Math.PI);
      context.fillStyle = fill;
      context.fill();
    };
    context.globalAlpha = 0.6;
    for (let k = 0; k < count(); k += 1) if (!judged.has(k)) dot(k, soft, 0);
    if (lined.checked) {
      context.lineWidth = 1.4;
      context.globalAlpha = found.pairs.length > 400 ? 0.4 : 0.75;
      for (const [a, b, isAlike] of found.pairs) {
        context.strokeStyle = isAlike ? alike : unlike;
        context.setLineDash(isAlike ? [] : [5, 4]);
        stroke([a, b]);
      }
      context.setLineDash([]);
    }
    context.globalAlpha = 1;
    for (const k of judged) dot(k, ink, 0.8);
    if (pictured.checked) thumbs.paint(context, found.rows, places, judged, ink, soft);
    if (lined.checked) {
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.font = "bold 11px system-ui, sans-serif";
      for (const [a, b] of suspects) {
        context.lineWidth = 3;
        context.strokeStyle = ink;
        stroke([a, b]);
        const [x, y] = [0, 1].map((m) => (places[a][m] + places[b][m]) / 2);
        context.beginPath();
        context.arc(x, y, 7.5, 0, 2 * Math.PI);
        context.fillStyle = ink;
        context.fill();
        context.fillStyle = paper;
        context.fillText("!", x, y + 0.5);
      }
    }
    if (at >= 0) {
      dot(at, ink, 1.5);
      context.lineWidth = 2;
      context.strokeStyle = ink;
      context.beginPath();
      context.arc(...places[at], radius + 5, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  async function itemOf(row) {
    if (!items.has(row)) {
      if (items.size >= KEPT) items.clear();
      items.set(row, get(`/api/item?number=${row}`).catch(() => ({ number: row, id: String(row) })));
    }
    return items.get(row);
  }

  async function lookAt(k, isSpoken = false) {
    if (k === at) return;
    at = k;
    paint();
    tip.hidden = true;
    if (k < 0) return;
    const item = await itemOf(found.rows[k]);
    if (at !== k) return;
    tip.replaceChildren(showItem(item));
    tip.hidden = false;
    placeTip(tip, ...movement.place(k, size), size);
    if (isSpoken) say(itemWords(item));
  }

  const placeNow = (k) => movement.place(k, size);
  function under(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((v) => (v / box.width) * size);
    return nearestTo(count(), placeNow, x, y, event.pointerType === "touch" ? 26 : 14);
  }
  canvas.addEventListener("pointermove", (event) => lookAt(under(event)));
  canvas.addEventListener("pointerdown", (event) => lookAt(under(event)));
  canvas.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") lookAt(-1); });
  canvas.addEventListener("blur", () => lookAt(-1));
  canvas.addEventListener("keydown", (event) => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !count()) return;
    if (ARROWS[key]) lookAt(at < 0 ? nearestTo(count(), placeNow, size / 2, size / 2) : nextThatWay(count(), placeNow, at, ...ARROWS[key]), true);
    else if (key === "Home") lookAt(0, true);
    else if (key === "End") lookAt(count() - 1, true);
    else if (key === "Escape") lookAt(-1);
    else return;
    event.preventDefault();
  });
  tools.addEventListener("change", (event) => {
    if (event.target.type === "checkbox") return paint();
    lookAt(-1);
    canvas.dataset.shown = when();
    return movement.go(planes[when()]);
  });
  new ResizeObserver(() => {
    if (!holder.clientWidth || holder.clientWidth === size) return;
    size = holder.clientWidth;
    canvas.width = canvas.height = Math.round(size * Math.max(2, devicePixelRatio || 1));
    paint();
  }).observe(holder);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

  return {
    element,
    show(map, suspectAnswers) {
      const isSame = found !== null && found.rows.length === map.rows.length && found.rows.every((row, k) => row === map.rows[k]);
      found = map;
      planes = { before: toUnitSquare(map.before), now: toUnitSquare(map.now) };
      judged = new Set(map.pairs.flatMap(([a, b]) => [a, b]));
      suspects = linesOf(suspectAnswers, new Map(map.rows.map((row, k) => [row, k])));
      if (!isSame) at = -1;
      canvas.dataset.version = map.version;
      canvas.dataset.shown = when();
      words.textContent = `${plural(count(), "point")} by two principal directions, and ${plural(map.pairs.length, "judged pair")}${suspects.length ? `, ${whole(suspectAnswers.length)} of the answers suspect` : ""}.`;
      movement.go(planes[when()], !isSame);
      thumbs.take(map.rows, judged, size).then((areThere) => { pictured.parentElement.hidden = !areThere; });
    },
  };
}
