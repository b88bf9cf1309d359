// Answers as files: out, as a download of what the server writes; in, with what it says was read.

import { plural } from "./parts.js";
import { byId } from "./say.js";
import { getFile, postFile } from "./talk.js";

function tell(words) {
  byId("files-said").textContent = words;
}

async function takeAway(format) {
  try {
    const address = URL.createObjectURL(await getFile(`/api/export?format=${format}`));
    const link = document.createElement("a");
    link.href = address;
    link.download = `judgments.${format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    tell(`Written to judgments.${format}, where this browser puts files.`);
  } catch (refusal) {
    tell(`Not exported: ${refusal.message}`);
  }
}

async function bringIn(file, afterwards) {
  tell(`Reading ${file.name} …`);
  try {
    const { read, added } = await postFile(`/api/import?name=${encodeURIComponent(file.name)}`, file);
    tell(`${read} ${plural(added, "answer")} added.`);
    afterwards();
  } catch (refusal) {
    tell(`Not imported: ${refusal.message}`);
  }
}

export function setUpExchange(afterwards) {
  byId("files-said").setAttribute("role", "status");
  document.querySelectorAll("[data-export]").forEach((button) => button.addEventListener("click", () => takeAway(button.dataset.export)));
  byId("import").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) bringIn(file, afterwards);
    event.target.value = "";
  });
}
