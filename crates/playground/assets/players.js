// Workers that play: one leads, keeps all runs and judges them; the others play for it.

const decoded = async (text) => {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).arrayBuffer();
};

/* The module is compiled once; its text is given back to the memory. */
const engineText = document.getElementById("engine");
const moduleReady = decoded(engineText.textContent).then((bytes) => { engineText.textContent = ""; return WebAssembly.compile(bytes); });
const workerAddress = URL.createObjectURL(new Blob([document.getElementById("worker").textContent], { type: "text/javascript" }));

function player() {
  const waiting = new Map();
  let number = 0;
  const worker = new Worker(workerAddress);
  const started = moduleReady.then((module) => worker.postMessage({ module }));
  worker.onmessage = ({ data }) => {
    const { keep, fail } = waiting.get(data.number);
    waiting.delete(data.number);
    if (data.trouble === undefined) keep(data.answer); else fail(new Error(data.trouble));
  };
  worker.onerror = (event) => { for (const { fail } of waiting.values()) fail(new Error(event.message || "a worker failed")); };
  return {
    /* The answer as text; the question is text, too. */
    ask: (question) => started.then(() => new Promise((keep, fail) => {
      number += 1;
      waiting.set(number, { keep, fail });
      worker.postMessage({ number, question });
    })),
    get busy() { return waiting.size > 0; },
    end: () => { worker.terminate(); waiting.clear(); },
  };
}

/* As many as there are processors, and one where the browser does not say. */
const PLAYERS = Math.min(8, Math.max(1, navigator.hardwareConcurrency || 1));
let team = [];

/* Who is busy with something that nobody wants any more is replaced. */
function freshTeam() {
  team = Array.from({ length: PLAYERS }, (_, index) => {
    const old = team[index];
    if (old && !old.busy) return old;
    old?.end();
    return player();
  });
  return team;
}

class Refused extends Error {
  constructor({ error, help }) { super(error); this.help = help; }
}

async function asked(who, question) {
  const answer = JSON.parse(await who.ask(JSON.stringify(question)));
  if (answer && answer.error !== undefined) throw new Refused(answer);
  return answer;
}

/* Plays all that `ask` wants. `told` hears of the beginning, of each run, and of what the runs say so far; `wanted()` says whether it still is. */
async function playAll(ask, { begun, progressed, shown, wanted }) {
  const [lead, ...helpers] = freshTeam();
  const begin = JSON.stringify({ begin: ask });
  const path = await asked(lead, { begin: ask });
  if (!wanted()) return;
  begun(path);
  const ready = helpers.map((helper) => helper.ask(begin));
  let done = 0, lastShown = 0, cost = 0, showing = false, stage = 0;
  const show = async (stageDone) => {
    if (showing || !wanted()) return;
    showing = true;
    const from = performance.now();
    const answer = await asked(lead, "show");
    if (answer && wanted()) shown(answer, stageDone);
    lastShown = performance.now();
    cost = lastShown - from;
    showing = false;
  };
  for (;;) {
    const wishes = await asked(lead, "wanted");
    if (!wishes.length || !wanted()) break;
    const queue = [...wishes];
    const work = async (who, play) => {
      await ready[team.indexOf(who) - 1];
      while (queue.length && wanted()) {
        await play(queue.shift());
        if (!wanted()) return;
        done += 1;
        progressed(done, path.total);
        if (performance.now() - lastShown > Math.max(300, cost * 4)) await show(stage);
      }
    };
    const here = (wish) => asked(lead, { play: wish });
    const there = (helper) => async (wish) => {
      const record = await helper.ask(JSON.stringify({ record: wish }));
      if (record.startsWith('{"error"')) throw new Refused(JSON.parse(record));
      const kept = JSON.parse(await lead.ask(`{"take":{"job":${JSON.stringify(wish.job)},"record":${record}}}`));
      if (kept.error !== undefined) throw new Refused(kept);
    };
    await Promise.all([work(lead, here), ...helpers.map((helper) => work(helper, there(helper)))]);
    while (showing) await new Promise((soon) => setTimeout(soon, 10));
    stage += 1;
    await show(stage);
    // The first look: one run of each row.
    lastShown = performance.now();
  }
}
