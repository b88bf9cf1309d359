// Answers to look at again: each with its items, and with a button for every answer that it could have been.

import { compareFields, showItem } from "./items.js";
import { judge } from "./judge.js";
import { KINDS } from "./kinds.js";
import { deliver, newEvent } from "./outbox.js";
import { make } from "./parts.js";
import { byId, say } from "./say.js";
import { get } from "./talk.js";

const LISTS = [
  ["last", "Last answers", "All answers, the last ones first."],
  ["contradictions", "Contradictions", "Answers that cannot all be right."],
  ["suspects", "Suspects", "Answers that what was learned from the others speaks against. They may be right all the same."],
  ["disagreements", "Disagreements", "Questions to which judges gave different answers."],
];
let which = "last", last = null, turn = 0;

function buttonsOf(entry, card) {
  const buttons = KINDS[entry.kind].answers.map((choice) => {
    const button = make("button", { type: "button", "data-answer": choice.answer, "aria-pressed": String(choice.answer === entry.answer) }, choice.name);
    button.addEventListener("click", () => change(entry, choice.answer, card));
    return button;
  });
  const back = make("button", { type: "button", class: "back" }, "Take back");
  back.addEventListener("click", () => change(entry, null, card));
  return [...buttons, back];
}

function showCard(entry) {
  const kind = KINDS[entry.kind], card = make("li", { class: "card" });
  const time = new Date(1000 * entry.at);
  const items = entry.items.every((item) => item.fields)
    ? compareFields(entry.items, kind.places, kind.against)
    : make("div", { class: "points" }, ...entry.items.map((item, k) => make("figure", {}, make("figcaption", { class: kind.places.length === 2 ? "unseen" : "role" }, kind.places[k]), showItem(item))));
  card.append(
    make("header", {}, make("b", {}, kind.title),
      make("span", { class: "role" }, make("bdi", {}, entry.judge), ", ", make("time", { datetime: time.toISOString() }, time.toLocaleString()))),
    items,
    entry.why ? make("p", { class: "why", dir: "auto" }, entry.why) : "",
    make("div", { class: "tools", role: "group", "aria-label": "The answer" }, ...buttonsOf(entry, card)),
    make("p", { class: "note said", role: "status" }));
  return card;
}

async function change(entry, answer, card) {
  if (answer === entry.answer) return;
  const said = card.querySelector(".said");
  said.textContent = "Saving …";
  try {
    const reply = await deliver("/api/change", { event: newEvent(), judge: judge(), seq: entry.seq, answer }, "A change is not saved yet.");
    if (answer === null) {
      card.classList.add("gone");
      card.querySelectorAll("button").forEach((button) => { button.disabled = true; });
      said.textContent = "Taken back.";
      return;
    }
    Object.assign(entry, { seq: reply.seq, answer });
    card.querySelectorAll("[data-answer]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.answer === answer)));
    said.textContent = "Changed.";
  } catch (refusal) {
    said.textContent = `Not changed: ${refusal.message}`;
  }
}

async function load(more) {
  turn += 1;
  const mine = turn, [, title, words] = LISTS.find(([name]) => name === which);
  for (const button of byId("mend-which").children) button.setAttribute("aria-pressed", String(button.dataset.which === which));
  if (!more) last = null;
  let found;
  try {
    found = await get(`/api/answers?which=${which}${last === null ? "" : `&after=${last}`}`);
  } catch (refusal) {
    byId("mend-note").textContent = refusal.message;
    return;
  }
  if (mine !== turn) return;
  const cards = found.answers.map(showCard);
  if (more) byId("mend-list").append(...cards);
  else byId("mend-list").replaceChildren(...cards);
  if (found.answers.length) last = found.answers[found.answers.length - 1].seq;
  byId("mend-more").hidden = !found.more;
  byId("mend-note").textContent = found.answers.length || more ? words : `${title}: none.`;
  say(`${title}: ${found.answers.length || "none"}${found.more ? ", and more" : ""}.`);
  if (more && cards.length) cards[0].querySelector("button").focus();
}

export function setMending(active) {
  if (active) load(false);
}

export function setUpMending() {
  byId("mend-which").append(...LISTS.map(([name, title]) => {
    const button = make("button", { type: "button", "data-which": name }, title);
    button.addEventListener("click", () => { which = name; load(false); });
    return button;
  }));
  byId("mend-more").addEventListener("click", () => load(true));
}
