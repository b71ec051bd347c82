// Is the cut of an array, of which only the newest messages are looked at, that of the whole?

import assert from "node:assert/strict";
import test from "node:test";
import { findCut, Transcript } from "../index.js";
import { frozen, random } from "./support/random.mjs";
import { soundTranscript } from "./support/sound.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** Long enough to be looked at in several steps; some have turns, some only calls and results, some nothing to cut at. */
function long(/** @type {number} */ seed) {
  const rng = random(seed);
  const made = Array.from({ length: 60 }, (_, i) =>
    rng.chance(0.5) ? soundTranscript(seed * 100 + i, 4) : wildTranscript(seed * 100 + i, 20),
  ).flat();
  const roles = rng.chance(0.5) ? undefined : ["toolResult", ...(rng.chance(0.5) ? ["assistant"] : [])];
  return frozen(made.filter(({ role }) => roles === undefined || roles.includes(role)));
}

test("however many messages are looked at, and in both dialects", () => {
  let lengths = 0;
  for (let seed = 0; seed < 25; seed++) {
    const messages = long(seed);
    const whole = new Transcript(messages);
    lengths = Math.max(lengths, messages.length);
    for (const dialect of /** @type {const} */ (["pi-0.87", "pi-1.6"])) {
      for (const keep of [0, 1, 50, 1_000, 5_000, 20_000, 100_000, 1e9]) {
        const title = `seed ${seed}, ${dialect}, ${keep}`;
        assert.deepEqual(findCut(messages, keep, { dialect }), findCut(whole, keep, { dialect }), title);
      }
    }
  }
  assert.ok(lengths > 512, `${lengths} messages at most`);
});

test("what is no message is found, however far back", () => {
  const messages = Array.from({ length: 1_000 }, () => ({ role: "user", content: "a" }));
  for (const at of [0, 500, 999]) {
    const broken = /** @type {any[]} */ ([...messages]);
    broken[at] = null;
    const refused = { code: "invalid_argument", message: new RegExp(`messages\\[${at}\\]`) };
    assert.throws(() => findCut(broken, 10), refused);
  }
});
