// One question at a time. An answer counts when the server has confirmed it, and the confirmation brings the next question.

import { itemWords, showItems } from "./items.js";
import { judge } from "./judge.js";
import { keyName, KINDS, nameOfAnswer } from "./kinds.js";
import { listenToKeys } from "./keys.js";
import { deliver, insist, newEvent } from "./outbox.js";
import { make, whole } from "./parts.js";
import { byId, say } from "./say.js";

const GLANCE = 150; // milliseconds on the screen before a question can be answered: nobody reads faster
const AGAIN = 4000; // milliseconds until a question is asked for again where there was none

let current = null;
let turn = 0; // of what was begun last
let isActive = false;
let afterAnswer = () => {};

const view = () => byId("view-ask");
function setOpen(open) {
  view().dataset.open = open ? "yes" : "no";
  for (const button of byId("ask-answers").children) button.setAttribute("aria-disabled", String(!open));
}
const isOpen = () => view().dataset.open === "yes";
const frame = () => new Promise((done) => { requestAnimationFrame(() => done()); });
const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

// Until the pictures are there and all was on the screen for a moment.
async function untilSeen() {
  const images = [...byId("ask-items").querySelectorAll("img")];
  await Promise.all(images.map((image) => image.decode().catch(() => {})));
  await frame();
  await frame();
  await pause(GLANCE);
}

function showAnswers(kind) {
  const place = byId("ask-answers");
  if (place.dataset.kind === kind) {
    for (const button of place.children) button.classList.remove("given");
    return;
  }
  place.dataset.kind = kind;
  place.className = `answers ${kind}`;
  place.replaceChildren(...KINDS[kind].answers.map((choice) => {
    const button = make("button", { type: "button", "data-answer": choice.answer, "aria-keyshortcuts": choice.keys.join(" ") },
      make("kbd", { "aria-hidden": "true" }, choice.sign), make("span", {}, choice.name));
    button.addEventListener("click", () => answer(choice.answer));
    return button;
  }));
}

function showKeys(kind) {
  const rows = KINDS[kind].answers.map((choice) => [choice.keys.map(keyName).join(" or "), choice.name]);
  rows.push(["u or Backspace", "Undo: the last answer is taken back, and its question comes again"], ["?", "This help"]);
  byId("help-keys").replaceChildren(...rows.flatMap(([keys, words]) => [make("dt", {}, keys), make("dd", {}, words)]));
}

function spoken(question) {
  const kind = KINDS[question.kind];
  const items = question.items.map((item, k) => `${kind.places[k]}: ${itemWords(item)}`).join("; ");
  return `${kind.title} ${items}`;
}

// Where something that a person meant can be clicked, it is a way to say it.
function listenToItems(kind) {
  for (const choice of KINDS[kind].answers) {
    const shown = byId("ask-items").querySelector(`figure[data-place="${choice.item}"]`);
    if (!shown) continue;
    shown.classList.add("choice");
    shown.addEventListener("click", () => { if (getSelection().isCollapsed) answer(choice.answer); });
  }
}

function showNone(sentence, before) {
  byId("ask-title").textContent = "No question";
  byId("ask-number").textContent = "";
  byId("ask-items").replaceChildren(make("p", { dir: "auto" }, sentence));
  byId("ask-answers").hidden = true;
  say([before, sentence].join(" "));
}

function showQuestion(question, before) {
  const kind = KINDS[question.kind];
  byId("ask-title").textContent = kind.title;
  byId("ask-number").replaceChildren(make("span", {}, "Question "), whole(question.number));
  byId("ask-items").className = `items ${question.kind}${question.items.some((item) => item.image) ? " pictures" : ""}`;
  byId("ask-items").replaceChildren(...showItems(question.items, kind));
  byId("ask-answers").hidden = false;
  showAnswers(question.kind);
  showKeys(question.kind);
  listenToItems(question.kind);
  say([before, spoken(question)].join(" "));
}

// `mine` tells whether something else was begun meanwhile, such as asking another judge.
async function show(question, before, mine) {
  if (mine !== turn) return;
  current = question.none ? null : question;
  byId("ask-saved").textContent = before;
  if (current === null) {
    showNone(question.none, before);
    await pause(AGAIN);
    if (mine === turn && isActive) askNext("");
    return;
  }
  showQuestion(question, before);
  setOpen(false);
  await untilSeen();
  if (mine === turn) setOpen(true);
}

function begin(words) {
  turn += 1;
  setOpen(false);
  byId("ask-saved").textContent = words;
  return turn;
}

async function askNext(before) {
  const mine = begin(before);
  try {
    await show(await insist("/api/next", { judge: judge() }), before, mine);
  } catch (refusal) {
    await show({ none: refusal.message }, before, mine);
  }
}

// Send what a person did, and go on with the question that the confirmation brings.
async function send(path, body, waiting, unsaved, confirmed, failed) {
  const mine = begin(waiting);
  try {
    const reply = await deliver(path, { event: newEvent(), judge: judge(), ...body }, unsaved);
    afterAnswer();
    await show(reply.next, confirmed(reply), mine);
  } catch (refusal) {
    if (mine === turn) await askNext(`${failed} ${refusal.message}`);
  }
}

async function answer(choice) {
  if (!isOpen()) return;
  const { question, kind, items } = current, name = nameOfAnswer(kind, choice);
  byId("ask-answers").querySelector(`[data-answer="${choice}"]`).classList.add("given");
  await send("/api/answer", { question, kind, items: items.map((item) => item.number), answer: choice },
    "Saving …", `“${name}” is not saved yet, and is kept here.`, () => `Saved: ${name.toLowerCase()}.`, "Not saved:");
}

async function undo() {
  if (current !== null && !isOpen()) return;
  await send("/api/undo", {}, "Taking back …", "The last answer is not taken back yet.",
    ({ undone }) => (undone ? `Taken back: ${nameOfAnswer(undone.kind, undone.answer).toLowerCase()}.` : "There is no answer of yours to take back."), "Not taken back:");
}

// Another judge, or the first question of this look of the page.
export const startAsking = (before = "") => askNext(before);

export function setAsking(active) {
  isActive = active;
  if (active && current === null && byId("ask-answers").hidden) askNext("");
}

export function setUpAsking(listener) {
  afterAnswer = listener;
  const help = () => byId("help-dialog").showModal();
  byId("undo").addEventListener("click", undo);
  byId("help").addEventListener("click", help);
  byId("help-dialog").querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    byId("help-dialog").close();
  });
  listenToKeys(() => isActive, () => current?.kind, { answer, undo, help });
}
