// From keys and swipes to what they mean in the view that asks.

import { KINDS } from "./kinds.js";
import { byId } from "./say.js";

const BY_KEYS = "studio keys";
const FIELDS = "input, select, textarea, dialog, [contenteditable]";
const SWIPE = 60; // pixels

export const answersByKeys = () => localStorage.getItem(BY_KEYS) !== "no";

// Of a box that scrolls the arrows up and down are its own.
const scrollsItself = (target, key) => (key === "ArrowUp" || key === "ArrowDown") && target.closest?.(".wide, .content") !== null
  && [target.closest(".wide, .content")].some((box) => box.scrollHeight > box.clientHeight);

export function listenToKeys(isAsking, kindNow, { answer, undo, help }) {
  const box = byId("by-keys");
  box.checked = answersByKeys();
  box.addEventListener("change", () => localStorage.setItem(BY_KEYS, box.checked ? "yes" : "no"));

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (!isAsking() || event.ctrlKey || event.metaKey || event.altKey || target.closest?.(FIELDS) || document.querySelector("dialog[open]")) return;
    if (!answersByKeys() || scrollsItself(target, key)) return;
    const choice = KINDS[kindNow()]?.answers.find((one) => one.keys.includes(key.length === 1 ? key.toLowerCase() : key));
    if (choice) {
      if (!event.repeat) answer(choice.answer); // a key held down is one answer
    } else if (key === "u" || key === "Backspace") {
      if (!event.repeat) undo();
    } else if (key === "?") {
      help();
    } else {
      return;
    }
    event.preventDefault();
  });

  let start = null;
  const items = byId("ask-items");
  items.addEventListener("touchstart", (event) => { start = event.touches.length === 1 ? event.touches[0] : null; }, { passive: true });
  items.addEventListener("touchend", (event) => {
    if (start === null || !isAsking()) return;
    const end = event.changedTouches[0], x = end.clientX - start.clientX, y = end.clientY - start.clientY;
    start = null;
    if (Math.abs(x) < SWIPE || Math.abs(x) < 2 * Math.abs(y)) return;
    const way = x < 0 ? "ArrowLeft" : "ArrowRight";
    answer(KINDS[kindNow()].answers.find((one) => one.keys.includes(way)).answer);
  }, { passive: true });
}
