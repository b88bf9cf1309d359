// What was learned so far: in a sentence, on the map, in scores, in counts.

import { addMap } from "./map.js";
import { showScores } from "./scores.js";
import { make, number, percent, plural, whole } from "./parts.js";
import { byId } from "./say.js";
import { get } from "./talk.js";

let map = null, isActive = false, drawn = "", isLoading = false;

function showWords({ learned, problem, n_answers: n }) {
  const words = [];
  if (learned) words.push(make("p", { class: "verdict", dir: "auto" }, learned.verdict));
  else words.push(make("p", { class: "verdict" }, n ? "Learning from the first answers has not ended yet." : "Nothing is learned yet; answer some questions first."));
  if (learned?.advice) words.push(make("p", { class: "advice", dir: "auto" }, learned.advice));
  if (problem) words.push(make("p", { class: "besides", dir: "auto" }, problem));
  const place = byId("see-words"), text = words.map((one) => one.textContent).join("\n");
  if (place.dataset.text === text) return;
  place.dataset.text = text;
  place.replaceChildren(...words);
}

function showCounts(state) {
  const { learned, judges, agreement_of_judges: both } = state;
  const rows = [
    ["points", whole(state.n_points)],
    ["answers", `${whole(state.n_answers)}, of which ${whole(state.n_unsure)} unsure and ${whole(state.n_random)} to random questions`],
  ];
  if (learned) rows.push(["learned from", `${plural(learned.from, "answer")} in ${number(learned.seconds, 2)} seconds`]);
  if (judges.length) rows.push([judges.length === 1 ? "judge" : "judges", judges.map((one) => `${one.name}: ${whole(one.n_answers)}`).join(", ")]);
  rows.push(["agreement of judges", both ? `${percent(both.rate, 0)} of ${plural(both.n, "question")} that two have answered` : "not known: no question was answered by two"]);
  const place = byId("see-counts"), mark = JSON.stringify(rows);
  if (place.dataset.rows === mark) return;
  place.dataset.rows = mark;
  place.replaceChildren(make("dl", { class: "facts" },
    ...rows.flatMap(([name, words]) => [make("dt", {}, name), make("dd", { dir: "auto" }, words)])));
}

// The map comes anew when it was learned anew, or when there are other answers to draw.
async function showMap({ learned, n_answers: n }) {
  const mark = `${learned?.map_version} ${n}`;
  if (!learned || mark === drawn || isLoading) return;
  isLoading = true;
  try {
    const [found, suspects] = await Promise.all([get("/api/map"), get("/api/answers?which=suspects")]);
    if (!found.rows.length) return;
    if (map === null) {
      map = addMap();
      byId("see-map").replaceChildren(map.element);
    }
    map.show(found, suspects.answers);
    drawn = mark;
  } catch {
    // It is asked for again with the next look at the state.
  } finally {
    isLoading = false;
  }
}

export function showState(state) {
  if (!isActive || state === null) return;
  showWords(state);
  showCounts(state);
  showScores(state.learned?.scores || []);
  if (!state.learned && map === null) byId("see-map").replaceChildren(make("p", { class: "note" }, "The map appears with the first answers that something was learned from."));
  showMap(state);
}

export function setSeeing(active, state) {
  isActive = active;
  showState(state);
}
