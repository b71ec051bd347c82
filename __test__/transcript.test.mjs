import assert from "node:assert/strict";
import test from "node:test";
import { serializeConversation, Transcript } from "../index.js";
import { frozen, random } from "./support/random.mjs";
import { sessions } from "./support/sessions.mjs";
import { soundTranscript, userOfTokens } from "./support/sound.mjs";
import { calls, compaction } from "./support/transcript-calls.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */
/** @typedef {import("./support/random.mjs").Random} Random */

/** Some messages; the generators make them anew for each seed. @param {Random} rng @param {number} most */
function some(rng, most = 12) {
  const seed = rng.between(0, 1e6);
  const messages = rng.chance(0.5) ? soundTranscript(seed, 3) : wildTranscript(seed, most);
  return frozen(messages.slice(0, most));
}

/** One random edit of both. @param {Random} rng @param {any} transcript @param {Message[]} plain */
function edit(rng, transcript, plain) {
  const kind = rng.between(0, 9);
  if (kind < 5 || plain.length === 0) {
    const added = some(rng);
    transcript.append(...added);
    plain.push(...added);
  } else if (kind < 7) {
    const length = rng.between(Math.max(0, plain.length - 8), plain.length);
    transcript.truncate(length);
    plain.length = length;
  } else {
    const [message = { role: "user", content: "new" }] = some(rng);
    const at = rng.between(0, plain.length - 1);
    transcript.replace(at, message);
    plain[at] = message;
  }
}

/** Two ranges beside each other: a history and a turn prefix. @param {Random} rng @param {any} transcript @param {Message[]} plain */
function views(rng, transcript, plain) {
  const end = rng.chance(0.5) ? plain.length : rng.between(0, plain.length);
  const middle = rng.between(0, end);
  const start = rng.chance(0.5) ? 0 : rng.between(0, middle);
  return {
    given:
      start === 0 && middle === plain.length && rng.chance(0.5)
        ? transcript
        : transcript.range(start, middle),
    prefix: transcript.range(middle, end),
    plain: plain.slice(start, middle),
    plainPrefix: plain.slice(middle, end),
  };
}

/** The same values, and where a list holds a message of the input itself, the same object. */
function assertSame(
  /** @type {any} */ found,
  /** @type {any} */ expected,
  /** @type {Set<any>} */ own,
  /** @type {string} */ title,
) {
  assert.deepEqual(found, expected, title);
  const objects = (/** @type {any} */ value) => [value].flat(Number.POSITIVE_INFINITY);
  const [left, right] = [objects(found), objects(expected)];
  for (const [index, message] of right.entries()) {
    if (own.has(message)) assert.ok(left[index] === message, `${title}: the very same object at ${index}`);
  }
}

/** @param {any} answer every list of messages in it */
function lists(answer) {
  return Array.isArray(answer) ? answer : [answer?.history ?? [], answer?.prefix ?? []];
}

/** @param {number} seed @param {ReturnType<typeof views>} view */
function assertViews(seed, { given, prefix, plain, plainPrefix }) {
  const own = new Set([...plain, ...plainPrefix]);
  const rng = random(seed ^ 0xca11);
  for (const [name, call] of Object.entries(calls(rng, plain.length))) {
    const [found, expected] = [call(given, prefix), call(plain, plainPrefix)];
    const title = `seed ${seed}: ${name}`;
    assert.deepEqual(found, expected, title);
    if (typeof expected === "object") assertSame(lists(found), lists(expected), own, title);
  }
}

test("a transcript under random edits answers as the plain list does, every function, both dialects", () => {
  for (let seed = 0; seed < 250; seed++) {
    const rng = random(seed);
    const plain = [...some(rng)];
    const transcript = new Transcript(plain);
    for (let edits = rng.between(1, 14); edits > 0; edits--) {
      edit(rng, transcript, plain);
      assert.equal(transcript.length, plain.length);
      if (rng.chance(0.3)) assertViews(seed, views(rng, transcript, plain));
    }
    assertViews(seed, views(rng, transcript, plain));
  }
});

test("ranges are snapshots: edits that come later do not touch them", () => {
  for (let seed = 0; seed < 150; seed++) {
    const rng = random(seed + 5_000);
    const plain = [...some(rng)];
    const transcript = new Transcript(plain);
    const kept = [];
    for (let edits = 12; edits > 0; edits--) {
      kept.push(views(rng, transcript, plain));
      edit(rng, transcript, plain);
    }
    const wholes = kept.map((view) =>
      view.given instanceof Transcript ? { ...view, given: view.prefix, plain: view.plainPrefix } : view,
    );
    if (rng.chance(0.5)) transcript.dispose();
    for (const view of wholes) {
      assert.equal(view.given.length, view.plain.length);
      assert.deepEqual([...view.given], view.plain);
      assertViews(seed, view);
    }
  }
});

test("generateCompaction sends and makes the same of a range as of its messages", async () => {
  for (let seed = 0; seed < 120; seed++) {
    const rng = random(seed + 9_000);
    const plain = [...some(rng, 40)];
    const transcript = new Transcript(plain);
    for (let edits = rng.between(0, 6); edits > 0; edits--) edit(rng, transcript, plain);
    const view = views(rng, transcript, plain);
    const run = compaction(rng);
    const ours = run(view.given, view.prefix);
    // A running compaction keeps what it was given.
    edit(rng, transcript, plain);
    assert.deepEqual(await ours, await run(view.plain, view.plainPrefix), `seed ${seed}`);
  }
});

for (const { name, messages } of sessions()) {
  test(`${name}: turn by turn, the same answers as of the plain list`, async () => {
    const transcript = new Transcript();
    for (const [index, message] of messages.entries()) {
      transcript.append(message);
      if (index % 97 !== 0 && index !== messages.length - 1) continue;
      const plain = messages.slice(0, index + 1);
      const middle = Math.floor(plain.length / 2);
      const [given, prefix] = [transcript.range(0, middle), transcript.range(middle)];
      assertViews(index, { given, prefix, plain: plain.slice(0, middle), plainPrefix: plain.slice(middle) });
    }
    const run = compaction(random(1));
    assert.deepEqual(await run(transcript, []), await run(messages, []));
  });

  test(`${name}: holds no more than 1.3 times the printed text at two bytes a unit`, () => {
    for (const transcript of [new Transcript(messages), new Transcript()]) {
      if (transcript.length === 0) for (const message of messages) transcript.append(message);
      const most = 1.3 * 2 * serializeConversation(messages).length;
      assert.ok(
        transcript.memoryUsage > 0 && transcript.memoryUsage <= most,
        `${transcript.memoryUsage} of ${most}`,
      );
    }
  });
}

test("memoryUsage falls when messages go, once nothing holds them", () => {
  const transcript = new Transcript([userOfTokens(50_000), userOfTokens(10)]);
  const full = transcript.memoryUsage;
  assert.ok(full >= 200_000);
  transcript.replace(0, userOfTokens(10));
  assert.ok(transcript.memoryUsage < full / 10, `${transcript.memoryUsage} of ${full}`);
  transcript.truncate(0);
  assert.ok(transcript.memoryUsage < 10_000);
  assert.equal(transcript.length, 0);
});

test("a tool result takes no more than what is printed of it", () => {
  const text = "x".repeat(1_000_000);
  const content = [{ type: "text", text }];
  const transcript = new Transcript([{ role: "toolResult", toolCallId: "c", toolName: "read", content }]);
  assert.ok(transcript.memoryUsage < 20_000, `${transcript.memoryUsage}`);
});
