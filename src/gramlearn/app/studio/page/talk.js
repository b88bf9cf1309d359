// Requests to the server of this page: JSON both ways. Who asks is told by a cookie, which no script can read.

const PATIENCE = 20_000; // milliseconds

// A request that was not answered as hoped: `status` is that of HTTP, 0 where nothing was heard.
export class Refusal extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

async function reach(path, options, patience) {
  let answer;
  try {
    answer = await fetch(path, { ...options, cache: "no-store", signal: AbortSignal.timeout(patience) });
  } catch {
    throw new Refusal(0, "The server cannot be reached.");
  }
  if (answer.ok) return answer;
  let sentence = `The server refused with ${answer.status}.`;
  try {
    sentence = (await answer.json()).error || sentence;
  } catch {
    // Refusals of the web server itself say nothing more.
  }
  throw new Refusal(answer.status, sentence);
}

async function readJson(answer) {
  try {
    return await answer.json();
  } catch {
    throw new Refusal(0, "The connection broke off.");
  }
}

export const get = async (path) => readJson(await reach(path, {}, PATIENCE));

export const post = async (path, body) => readJson(await reach(path,
  { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }, PATIENCE));

export const postFile = async (path, file) => readJson(await reach(path,
  { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file }, 30 * PATIENCE));

export const getFile = async (path) => (await reach(path, {}, 30 * PATIENCE)).blob();
