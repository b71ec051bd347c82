import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { Worker } from "node:worker_threads";
import * as native from "../index.js";
import { failed, holds, prepared, says } from "./support/model.mjs";
import { outputOf } from "./support/process.mjs";
import { eventsOf, isCompression, modelOf, refined, turns } from "./support/refine.mjs";
import { SESSION, sixteen } from "./support/sixteen.mjs";

/** @type {any} */
const { exportCache, importCache, CompactionError } = native;
const MOST = 400;

/** The details without what says how much was made again. @param {any} details */
function lasting({ requests, cacheHits, ...rest }) {
  return rest;
}

/** How many requests a run took and how many it was spared. @param {any} made */
const work = ({ calls, result }) => [calls.length, result?.details.cacheHits];

let named = 0;
/** A session that no other test has. */
const anew = () => ({ sessionId: `session ${named++}` });

/** A run whose eighth request is given up. @param {object} more */
async function abortedAt7(more) {
  const controller = new AbortController();
  const rule = (/** @type {any} */ made) => {
    if (made.index < 7) return `about ${/⟦\d+⟧/.exec(made.prompt)?.[0]}`;
    controller.abort(new Error("given up"));
    return holds(made);
  };
  const { error } = await sixteen({ rule, more: { ...more, signal: controller.signal } });
  assert.equal(error.message, "given up");
}

test("D48 D51 openclaw#92043 after an abort in chunk 8 the next run makes nine requests", async () => {
  const more = anew();
  await abortedAt7(more);
  assert.equal(exportCache(more.sessionId).entries.length, 7);
  const resumed = await sixteen({ more });
  assert.deepEqual(work(resumed), [9, 7]);
  const whole = await sixteen({ more: anew() });
  assert.deepEqual(work(whole), [16, 0]);
  assert.equal(resumed.result.summary, whole.result.summary);
  assert.deepEqual(lasting(resumed.result.details), lasting(whole.result.details));
  assert.equal(resumed.result.details.requests, 9);
  assert.deepEqual(
    eventsOf(resumed.events, "chunk").map(({ index, cached }) => [index, cached]),
    Array.from({ length: 16 }, (_, index) => [index + 1, index < 7]),
  );
  assert.deepEqual(work(await sixteen({ more })), [0, 16], "and a third none");
});

for (const strategy of ["refine", "chain"]) {
  test(`D51 ${strategy}: after a permanent error in chunk 8 the next run makes nine requests`, async () => {
    const more = anew();
    const first = await sixteen({ strategy, failsAt: 7, more });
    assert.equal(first.error?.code, "summary_provider");
    assert.equal(first.calls.length, 8);
    const second = await sixteen({ strategy, more });
    assert.deepEqual(work(second), [9, 7]);
    assert.equal(second.result.details.strategy, strategy);
  });

  test(`D48 ${strategy}: a new process with the cache handed over makes nine requests`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "cache-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "cache.json");
    writeFileSync(path, "");
    const told = async (/** @type {number} */ failsAt) => {
      const { code, stdout, stderr } = await outputOf("refine-run.mjs", [], {
        args: [path, strategy, String(failsAt)],
      });
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout);
    };
    assert.deepEqual(await told(7), { code: "summary_provider", requests: 8 });
    assert.equal(JSON.parse(readFileSync(path, "utf8")).entries.length, 7);
    const second = await told(99);
    assert.deepEqual([second.requests, second.details.cacheHits], [9, 7]);
    assert.equal(second.summary, (await sixteen({ strategy, more: anew() })).result.summary);
    assert.equal((await told(0)).requests, 0, "and a third process none");
  });
}

/** What makes the requests other ones. @type {Record<string, any>} */
const OTHERS = {
  "another session (D53)": { more: { sessionId: "a fork" } },
  "another model": { limits: { id: "other" } },
  "another provider": { limits: { provider: "other" } },
  "another window": { limits: { contextWindow: 32_000 } },
  "another budget for answers": { more: { refine: { maxOutputTokens: 7_000 } } },
  "another ceiling": { more: { refine: { summaryCeilingTokens: 4_000 } } },
  "another reserve": { preparation: { settings: { reserveTokens: 9_000 } } },
  "another instruction": { more: { customInstructions: "Keep numbers." } },
  "another system prompt": { more: { prompts: { system: "Be brief." } } },
  "another initial and update prompt": { more: { prompts: { initial: "Sum up.", update: "Sum up." } } },
  "the other strategy": { strategy: "chain" },
};

test("D49 D50 D52 D53 another session, model, budget or instruction makes all requests again", async () => {
  const more = anew();
  assert.deepEqual(work(await sixteen({ more })), [16, 0]);
  for (const [title, how] of Object.entries(OTHERS)) {
    const { calls, error } = await sixteen({ ...how, more: { ...more, ...how.more } });
    assert.equal(error, undefined);
    assert.equal(calls.length, 16, title);
  }
  assert.deepEqual(work(await sixteen({ more })), [0, 16]);
});

test("D48 compressions are kept as well, and a run that learned a window resumes behind it", async () => {
  const long = (/** @type {any} */ made) => (isCompression(made) ? "SHORT" : "S ".padEnd(16_000, "s"));
  const narrow = (/** @type {any} */ { prompt }) =>
    prompt.length > 17_000 ? failed("prompt is too long: 9000 tokens > 6000 maximum") : "S";
  for (const [rule, again] of /** @type {[(made: any) => any, number][]} */ ([
    [long, 0],
    [narrow, 1],
  ])) {
    const more = anew();
    const first = await sixteen({ rule, more });
    const second = await sixteen({ rule, more });
    assert.equal(second.error, undefined, `${second.error}`);
    assert.equal(second.calls.length, again);
    // What is asked twice in a run is a hit in that run already.
    const made = first.calls.length + first.result.details.cacheHits;
    assert.equal(second.result.details.cacheHits, made - again);
    assert.equal(second.result.summary, first.result.summary);
    assert.deepEqual(lasting(second.result.details), lasting(first.result.details));
  }
});

test("D50 a request with another running summary is another request; what follows from the same one is not", async () => {
  const more = anew();
  await sixteen({ more });
  const { calls, result } = await sixteen({ more, preparation: { previousSummary: "OLD" } });
  assert.deepEqual([calls.length, result.details.cacheHits], [1, 15], "the first answer is the same one");
});

test("without a sessionId nothing is kept", async () => {
  const before = exportCache();
  for (const strategy of ["refine", "chain"]) {
    for (let round = 0; round < 2; round++) {
      const { calls } = await sixteen({ strategy, more: { sessionId: undefined } });
      assert.equal(calls.length, 16);
    }
  }
  assert.deepEqual(exportCache(), before);
});

test("what is no summary is not kept", async () => {
  const bad = [
    says(""),
    says("half", { stopReason: "length" }),
    failed("503"),
    says("no", { stopReason: "refusal" }),
  ];
  for (const answer of bad) {
    const more = anew();
    const { error } = await sixteen({ rule: () => answer, more });
    assert.ok(error);
    assert.deepEqual(exportCache(more.sessionId).entries, []);
  }
});

test("secrets are not in what is kept", async () => {
  const more = { ...anew(), secrets: ["TOP-SECRET"] };
  await sixteen({ rule: () => "the key is TOP-SECRET", more });
  assert.doesNotMatch(JSON.stringify(exportCache(more.sessionId)), /TOP-SECRET/);
});

test("secrets are masked in what another run kept: in the checkpoint and in what is carried on", async () => {
  for (const strategy of ["refine", "chain"]) {
    const more = anew();
    const leaky = (/** @type {any} */ { index }) => (index < 3 ? "the key is TOP-SECRET" : failed("401"));
    await sixteen({ strategy, rule: leaky, more });
    const { calls, result, error } = await sixteen({ strategy, more: { ...more, secrets: ["TOP-SECRET"] } });
    assert.equal(error, undefined);
    for (const { prompt } of calls) assert.ok(!prompt.includes("TOP-SECRET"), `${strategy}: carried on`);
    assert.doesNotMatch(JSON.stringify(result), /TOP-SECRET/);
  }
  // One request, and so the very checkpoint.
  for (const strategy of ["refine", "chain"]) {
    const more = { ...anew(), strategy };
    const once = (/** @type {object} */ also) =>
      refined(
        modelOf(() => "the key is TOP-SECRET"),
        prepared(turns(1, 60)),
        { ...more, ...also },
      );
    await once({});
    const { calls, result } = await once({ secrets: ["TOP-SECRET"] });
    assert.doesNotMatch(JSON.stringify(result), /TOP-SECRET/, `${strategy}: ${calls.length} requests`);
  }
});

test("exportCache gives one session's entries or all of them, as plain JSON", async () => {
  const ids = ["s", "s:refine", 's","', "s\n", "", "ß😀", "s|"];
  for (const sessionId of ids) await sixteen({ failsAt: 2, more: { sessionId } });
  for (const sessionId of ids) {
    const kept = exportCache(sessionId);
    assert.equal(kept.version, 1);
    assert.deepEqual(Object.keys(kept).sort(), ["entries", "version"]);
    assert.ok(
      [0, 2].includes(kept.entries.length) && (sessionId === "" || kept.entries.length === 2),
      sessionId,
    );
    for (const entry of kept.entries) assert.deepEqual(Object.keys(entry).sort(), ["key", "summary"]);
  }
  assert.deepEqual(exportCache("nobody's"), { version: 1, entries: [] });
  const all = exportCache();
  assert.deepEqual(JSON.parse(JSON.stringify(all)), all);
  assert.equal(new Set(all.entries.map((/** @type {any} */ { key }) => key)).size, all.entries.length);
  importCache(JSON.parse(JSON.stringify(all)));
  assert.deepEqual(exportCache(), all, "an import of what is there changes nothing");
  for (const id of [5, null, {}, true]) assert.throws(() => exportCache(id), { code: "invalid_argument" });
});

test("D49 D52 sessions and models whose names look alike share nothing", async () => {
  const made = async (/** @type {string} */ sessionId, limits = {}) => {
    const { calls } = await refined(
      modelOf(() => "S", limits),
      prepared(turns(1, 60)),
      { sessionId },
    );
    return calls.length;
  };
  const ids = ["\ud800", "\udc01", "\\ud800", '"\ud800"', "\ufffd", "a:b", "a", "b"];
  for (const id of ids) assert.equal(await made(id), 1, JSON.stringify(id));
  for (const id of ids) {
    assert.equal(await made(id), 0, JSON.stringify(id));
    assert.equal(exportCache(id).entries.length, 1);
  }
  for (const id of ["\udfff", "a:", ":", "b:"]) assert.deepEqual(exportCache(id).entries, []);
  const handed = JSON.parse(JSON.stringify(exportCache("\ud800")));
  importCache(handed);
  assert.deepEqual(exportCache("\ud800"), handed, "through a file as well");
  for (const [provider, id] of [
    ["a/b", "c"],
    ["a", "b/c"],
    ['a","b', "c"],
    ["a", 'b","c'],
    ["a:b", "c"],
    ["a", "b:c"],
  ])
    assert.equal(await made("models", { provider, id }), 1, `${provider} ${id}`);
});

test("D49 a session's requests need a model with a name: without one they are refused, and nothing is sent", async () => {
  for (const strategy of ["refine", "chain"]) {
    for (const field of ["provider", "id"]) {
      for (const odd of [undefined, null, 5, {}, ["x"], Symbol("x")]) {
        const by = modelOf(() => "S", { [field]: odd });
        const { error, calls } = await refined(by, prepared(turns(1, 60)), { ...anew(), strategy });
        assert.equal(error?.code, "invalid_argument", `${strategy} ${field}`);
        assert.ok(error.message.includes(`request.summarizer.model.${field}`), error.message);
        assert.equal(calls.length, 0);
      }
    }
  }
});

const THROWS = () => {
  throw new Error("the host's own");
};
const good = () => ({ key: exportCache().entries[0].key, summary: "A summary of another's" });

/** What is no cache. @type {Record<string, () => any>} */
const MALFORMED = {
  undefined: () => undefined,
  null: () => null,
  "a text": () => "{}",
  "a list": () => [good()],
  "nothing in it": () => ({}),
  "another version": () => ({ version: 2, entries: [good()] }),
  "a version as text": () => ({ version: "1", entries: [good()] }),
  "no version": () => ({ entries: [good()] }),
  "no entries": () => ({ version: 1 }),
  "entries that are none": () => ({ version: 1, entries: { 0: good(), length: 1 } }),
  "an entry that is null": () => ({ version: 1, entries: [good(), null] }),
  "an entry that is a text": () => ({ version: 1, entries: [good(), "x"] }),
  "an entry without a key": () => ({ version: 1, entries: [good(), { summary: "x" }] }),
  "a key that is no text": () => ({ version: 1, entries: [good(), { key: 5, summary: "x" }] }),
  "an entry without a summary": () => ({ version: 1, entries: [good(), { key: good().key }] }),
  "a summary that is no text": () => ({ version: 1, entries: [good(), { key: good().key, summary: {} }] }),
  "a summary of nothing": () => ({ version: 1, entries: [good(), { key: good().key, summary: " \n" }] }),
  "a hole": () => ({ version: 1, entries: Object.assign(new Array(2), { 0: good() }) }),
  "a getter that throws": () => ({
    version: 1,
    entries: [
      good(),
      {
        key: "x",
        get summary() {
          return THROWS();
        },
      },
    ],
  }),
  "entries that throw": () => ({
    version: 1,
    get entries() {
      return THROWS();
    },
  }),
  "a proxy that throws": () => new Proxy({}, { get: THROWS }),
};

test("importCache refuses what is no cache, and adds nothing of it", async () => {
  await sixteen({ more: anew() });
  for (const [title, make] of Object.entries(MALFORMED)) {
    const before = exportCache();
    assert.throws(
      () => importCache(make()),
      (/** @type {any} */ error) => error instanceof CompactionError && error.code === "invalid_argument",
      title,
    );
    assert.deepEqual(exportCache(), before, title);
  }
});

test("a worker thread has a cache of its own", async () => {
  await sixteen({});
  const before = exportCache();
  assert.ok(exportCache(SESSION).entries.length >= 16);
  const worker = new Worker(new URL("./support/programs/cache-worker.mjs", import.meta.url));
  const told = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await worker.terminate();
  assert.deepEqual(told, { before: 0, requests: 16, after: 16 });
  assert.deepEqual(exportCache(), before);
});

/** A run of one request that is its own. @param {number} index */
function single(index) {
  const preparation = prepared(turns(1, 60, index));
  return refined(
    modelOf(() => `S${index}`, {}),
    preparation,
    { sessionId: "many" },
  );
}

/** The summaries that are kept, least recently used first. */
const kept = () => exportCache("many").entries.map((/** @type {any} */ { summary }) => summary);

test("D48 at most 400 are kept; the least recently used goes first", async () => {
  for (let index = 0; index < MOST + 5; index++) await single(index);
  assert.equal(exportCache().entries.length, MOST);
  assert.deepEqual(
    kept(),
    Array.from({ length: MOST }, (_, index) => `S${index + 5}`),
  );
  assert.equal((await single(5)).calls.length, 0, "a hit is a use");
  assert.equal(kept().at(-1), "S5");
  assert.equal((await single(1_000)).calls.length, 1);
  assert.ok(kept().includes("S5") && !kept().includes("S6"));
  assert.equal((await single(6)).calls.length, 1, "what is gone is asked for again");
  assert.ok(!kept().includes("S7"));
});

test("D48 an import beyond 400 leaves the newest of it", async () => {
  const all = exportCache();
  assert.equal(all.entries.length, MOST);
  await single(2_000);
  importCache(all);
  assert.equal(exportCache().entries.length, MOST);
  const newest = all.entries.slice(-100).map((/** @type {any} */ { key }) => key);
  const there = new Set(exportCache().entries.map((/** @type {any} */ { key }) => key));
  assert.ok(newest.every((/** @type {string} */ key) => there.has(key)));
});
