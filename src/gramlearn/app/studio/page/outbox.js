// What a person said is kept until the server has confirmed it: also over a lost connection and a reload of the page.
//
// Each message has an event id, and is sent again with the same one: the server writes an event once.

import { post, Refusal } from "./talk.js";
import { clearTrouble, showTrouble } from "./say.js";

const UNSENT = "studio unsent";
const WAITS = [300, 700, 1500, 3000, 5000]; // milliseconds, the last again and again
const FINAL = [400, 404, 405, 409, 410, 413, 415, 422]; // sending it again would change nothing

// A random id also where the page is not on loopback, and `crypto.randomUUID` is missing.
export const newEvent = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

const pause = (milliseconds) => new Promise((done) => {
  const timer = setTimeout(done, milliseconds);
  addEventListener("online", () => { clearTimeout(timer); done(); }, { once: true });
});

// Ask until the server answers or refuses for good. What is asked changes nothing, or carries its event id.
export async function insist(path, body, unsaved = "") {
  for (let turn = 0; ; turn += 1) {
    try {
      const reply = await post(path, body);
      if (turn) clearTrouble();
      return reply;
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || FINAL.includes(refusal.status)) {
        if (turn) clearTrouble();
        throw refusal;
      }
      const stranger = refusal.status === 401 || refusal.status === 403;
      showTrouble([refusal.message, unsaved, stranger ? "Open the address that the command printed." : "Trying again."].filter(Boolean).join(" "));
      await pause(WAITS[Math.min(turn, WAITS.length - 1)]);
    }
  }
}

const unsent = () => JSON.parse(sessionStorage.getItem(UNSENT) || "{}");
const keep = (messages) => sessionStorage.setItem(UNSENT, JSON.stringify(messages));

// The same, of something that must not be lost.
export async function deliver(path, body, unsaved) {
  keep({ ...unsent(), [body.event]: [path, body, unsaved] });
  try {
    return await insist(path, body, unsaved);
  } finally {
    const { [body.event]: done, ...others } = unsent();
    keep(others);
  }
}

// What an earlier look of this page could not send; how many there were.
export async function deliverLeftOver() {
  const messages = Object.values(unsent());
  for (const message of messages) await deliver(...message);
  return messages.length;
}
