// What is known by now, asked for again and again while someone looks; listeners hear of it.

import { get } from "./talk.js";

const SECONDS = { see: 1500, ask: 5000, mend: 5000 }; // milliseconds between two looks
const listeners = [];
let view = "ask", timer = null, isOut = false;

export let state = null;

export const onState = (listener) => listeners.push(listener);

export async function look() {
  clearTimeout(timer);
  if (isOut) return;
  isOut = true;
  try {
    state = await get("/api/state");
    listeners.forEach((listener) => listener(state));
  } catch {
    // Answers say when the server is away; a look is only made again.
  } finally {
    isOut = false;
    timer = setTimeout(look, document.hidden ? 10 * SECONDS[view] : SECONDS[view]);
  }
}

export function lookFor(name) {
  view = name;
  look();
}
