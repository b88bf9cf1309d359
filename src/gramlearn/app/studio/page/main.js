// The page from its start on: who judges, what was left over, and which of the three views is shown.

import { setAsking, setUpAsking, startAsking } from "./ask.js";
import { setUpExchange } from "./exchange.js";
import { askJudge, judge, showJudge } from "./judge.js";
import { setMending, setUpMending } from "./mend.js";
import { deliverLeftOver } from "./outbox.js";
import { byId, clearTrouble, showTrouble } from "./say.js";
import { setSeeing, showState } from "./see.js";
import { look, lookFor, onState, state } from "./state.js";
import { get } from "./talk.js";

const VIEWS = { ask: "Ask", see: "See", mend: "Mend" };
const viewNow = () => (location.hash.slice(1) in VIEWS ? location.hash.slice(1) : "ask");

function showView(isMoved) {
  const now = viewNow();
  for (const name of Object.keys(VIEWS)) {
    byId(`view-${name}`).hidden = name !== now;
    const link = document.querySelector(`[data-view=${name}]`);
    if (name === now) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  byId("skip").href = `#${now}`;
  document.title = `${VIEWS[now]} – gramlearn studio`;
  setAsking(now === "ask");
  setSeeing(now === "see", state);
  setMending(now === "mend");
  lookFor(now);
  if (isMoved) byId(`${now}-title`).focus();
}

async function switchJudge(first = null) {
  const known = first || state || { judges: [], judge: "" };
  const isOther = await askJudge(known.judges.map((one) => one.name), known.judge || "");
  if (isOther && first === null) startAsking();
}

// The server may be slow to start, or away: the first look is made until it succeeds.
async function firstState() {
  for (;;) {
    try {
      const found = await get("/api/state");
      clearTrouble();
      return found;
    } catch (refusal) {
      showTrouble(`${refusal.message} Trying again.`);
      await new Promise((done) => { setTimeout(done, 1500); });
    }
  }
}

async function start() {
  showJudge();
  setUpAsking(look);
  setUpMending();
  setUpExchange(() => { setMending(viewNow() === "mend"); look(); });
  byId("judge").addEventListener("click", () => switchJudge());
  byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId(`${viewNow()}-title`).focus(); });
  onState((found) => {
    byId("ask-advice").textContent = found.learned?.advice || "";
    showState(found);
  });
  const found = await firstState();
  if (!judge()) await switchJudge(found);
  let before = "";
  try {
    if (await deliverLeftOver()) before = "What was not saved before is saved now.";
  } catch (refusal) {
    before = `What was left over is not saved: ${refusal.message}`;
  }
  await startAsking(before);
}

addEventListener("hashchange", () => showView(true));
showView(false);
start();
