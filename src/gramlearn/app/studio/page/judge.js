// Who judges: asked once, kept in this browser, changed whenever someone else sits down.

import { make } from "./parts.js";
import { byId } from "./say.js";

const NAME = "studio judge";
let name = localStorage.getItem(NAME) || "";

export const judge = () => name;

function take(given) {
  name = given;
  localStorage.setItem(NAME, name);
  showJudge();
}

export function showJudge() {
  byId("judge-name").textContent = name || "nobody yet";
}

// Ask for the name; resolves with whether it is another one than before. Without a name there is no cancelling.
export function askJudge(known, suggested) {
  const dialog = byId("judge-dialog"), field = byId("judge-field"), before = name;
  byId("judge-names").replaceChildren(...known.map((other) => make("option", { value: other })));
  byId("judge-cancel").hidden = !before;
  field.value = before || suggested;
  dialog.showModal();
  field.focus();
  field.select();
  return new Promise((done) => {
    dialog.oncancel = (event) => { if (!before) event.preventDefault(); };
    dialog.onclose = () => { if (!name) dialog.showModal(); else done(name !== before); };
    byId("judge-cancel").onclick = () => dialog.close();
    byId("judge-form").onsubmit = (event) => {
      event.preventDefault();
      const given = field.value.trim();
      if (!given) return;
      take(given);
      dialog.close();
    };
  });
}
