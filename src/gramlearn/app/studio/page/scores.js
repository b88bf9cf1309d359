// Agreement with random questions, which nothing is learned from, over the number of answers: learned and plain.

import { draw, fitted, make, percent, plural, whole } from "./parts.js";
import { byId } from "./say.js";

const LEFT = 46, TOP = 14, BOTTOM = 168, HEIGHT = 212;
let drawn = "";

function paint(svg, width, scores) {
  const right = width - 84;
  const lows = scores.map(({ learned, plain, error }) => Math.min(plain, learned - (error || 0)));
  const low = Math.max(0, Math.floor(10 * Math.min(0.5, ...lows)) / 10);
  const last = scores[scores.length - 1].n, first = Math.min(scores[0].n, last - 1);
  const x = (n) => LEFT + ((n - first) / (last - first)) * (right - LEFT);
  const y = (share) => BOTTOM - ((Math.min(1, share) - low) / (1 - low)) * (BOTTOM - TOP);
  for (let tick = Math.round(10 * low); tick <= 10; tick += low < 0.45 ? 2 : 1) {
    draw(svg, "line", { x1: LEFT, x2: right, y1: y(tick / 10), y2: y(tick / 10), class: "grid" });
    draw(svg, "text", { x: LEFT - 8, y: y(tick / 10) + 4, "text-anchor": "end" }, `${10 * tick} %`);
  }
  const ticks = [...new Set([0, 0.5, 1].map((part) => Math.round(first + part * (last - first))))].filter((n) => n >= scores[0].n);
  for (const n of ticks) draw(svg, "text", { x: x(n), y: BOTTOM + 18, "text-anchor": "middle" }, whole(n));
  draw(svg, "text", { x: (LEFT + right) / 2, y: BOTTOM + 38, "text-anchor": "middle" }, "answers");
  draw(svg, "line", { x1: LEFT, x2: right, y1: BOTTOM, y2: BOTTOM, class: "axis" });
  const ends = { plain: y(scores[scores.length - 1].plain), learned: y(scores[scores.length - 1].learned) };
  if (Math.abs(ends.plain - ends.learned) < 15) {
    const middle = (ends.plain + ends.learned) / 2, above = ends.learned <= ends.plain ? "learned" : "plain";
    ends[above] = middle - 8;
    ends[above === "plain" ? "learned" : "plain"] = middle + 8;
  }
  const curve = (name, more) => draw(group(name), "path", { d: scores.map((score, k) => `${k ? "L" : "M"}${x(score.n)} ${y(score[name])}`).join(""), class: "curve", ...more });
  const group = (name) => draw(svg, "g", { class: name === "plain" ? "c-before" : "c-after" });
  curve("plain", { "stroke-dasharray": "6 4" });
  curve("learned", {});
  const [squares, dots] = [group("plain"), group("learned")];
  for (const { n, learned, plain, error } of scores) {
    draw(squares, "rect", { x: x(n) - 3.5, y: y(plain) - 3.5, width: 7, height: 7, class: "dot hollow" });
    if (error) draw(dots, "path", { d: `M${x(n)} ${y(learned - error)}V${y(learned + error)}m-4 0h8M${x(n) - 4} ${y(learned - error)}h8`, class: "whisker" });
    draw(dots, "circle", { cx: x(n), cy: y(learned), r: 4.5, class: "dot" });
  }
  draw(dots, "text", { x: right + 10, y: ends.learned + 4, class: "strong" }, "learned");
  draw(squares, "text", { x: right + 10, y: ends.plain + 4, class: "strong" }, "plain");
}

function asTable(scores) {
  const table = make("table", {}, make("thead", {}, make("tr", {},
    ...["answers", "learned", "plain", "random ones"].map((name) => make("th", { scope: "col", class: "number" }, name)))));
  table.append(make("tbody", {}, ...scores.map(({ n, learned, plain, error, n_random: random }) => make("tr", {},
    ...[whole(n), `${percent(learned)}${error ? ` ± ${percent(error)}` : ""}`, percent(plain), whole(random)].map((cell) => make("td", { class: "number" }, cell))))));
  return make("details", {}, make("summary", {}, "The numbers"), make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Scores" }, table));
}

export function showScores(scores) {
  const place = byId("see-scores"), mark = JSON.stringify(scores);
  if (mark === drawn) return;
  drawn = mark;
  if (!scores.length) {
    place.replaceChildren(make("p", { class: "note" }, "Some questions are asked at random, and nothing is learned from them: how well they are foretold appears here."));
    return;
  }
  const last = scores[scores.length - 1];
  const words = `Learned ${percent(last.learned, 0)}, plain ${percent(last.plain, 0)} after ${whole(last.n)} answers.`;
  const [holder, render] = fitted(`Agreement with random questions over the number of answers. ${words}`, HEIGHT, (svg, width) => paint(svg, width, scores),
    `${words} The score is the share of answers to ${plural(last.n_random, "random question")} that the distances foretell; bars are one standard error to each side. `
    + "Dashed, with squares: the plain distance.");
  const wasOpen = place.querySelector("details")?.open;
  place.replaceChildren(holder, asTable(scores));
  place.querySelector("details").open = Boolean(wasOpen);
  render();
}
