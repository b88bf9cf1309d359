// What is said to eyes and to screen readers: the next question and confirmations politely, trouble at once.

export const byId = (id) => document.getElementById(id);

export function say(words) {
  const place = byId("spoken");
  if (place.textContent !== words) place.textContent = words;
}

export function showTrouble(sentence) {
  const place = byId("trouble");
  place.hidden = false;
  if (place.textContent !== sentence) place.textContent = sentence;
}

export function clearTrouble() {
  byId("trouble").hidden = true;
  byId("trouble").textContent = "";
}
