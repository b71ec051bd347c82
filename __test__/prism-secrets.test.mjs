// No secret leaves by any of Prism's names.

import assert from "node:assert/strict";
import test from "node:test";
import { createMemoryStore } from "../examples/prism/store.mjs";
import {
  applyCompactionMiddleware,
  createDefaultCompactionStrategy,
  errorToErrorInfo,
  httpStatusError,
  redactSecrets,
} from "../prism.js";
import { anyFields, branch, called, entry, resulted, said, talk } from "./support/entries.mjs";
import { answers, entriesOf, fails, session, stored } from "./support/prism-session.mjs";
import { random } from "./support/random.mjs";

/** @param {unknown} where @param {readonly string[]} secrets @param {string} title */
function assertClean(where, secrets, title) {
  const text = typeof where === "string" ? where : JSON.stringify(where);
  for (const secret of secrets) {
    for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) {
      assert.ok(form === "" || !text.includes(form), `${title}: ${JSON.stringify(form)} in ${text}`);
    }
  }
}

test("E9 E17 E126 exact strings are masked in summaries, unit for unit, and nothing else is", async () => {
  const secrets = ["sk-live-0123", 'p"a\\ss', "пароль-😀", undefined, ""];
  const known = /** @type {string[]} */ (secrets.filter(Boolean));
  const entries = branch(known.map((secret) => said("user", `key ${secret}, sk-live-012`)));
  const { summary } = await createDefaultCompactionStrategy({ secrets, keepRecentEntries: 0 }).compact({
    sessionId: "s",
    entries,
  });
  assertClean(summary, known, "summary");
  const lines = known.map((secret) => `user: key ${"*".repeat(secret.length)}, sk-live-012`);
  assert.equal(summary, lines.join("\n"));
});

test("E9 labels, names of tools, models, summaries, the trigger and the strategy's name are masked", async () => {
  const secret = "hunter2-hunter2";
  const entries = branch([
    { kind: "label", label: `label ${secret}` },
    { kind: "model_change", model: { provider: secret, model: "m" } },
    { kind: "summary", summary: secret },
    called(`tool-${secret}`),
    resulted(`tool-${secret}`, secret, { error: { message: secret } }),
  ]);
  const strategy = createDefaultCompactionStrategy({
    name: `by ${secret}`,
    secrets: [secret],
    keepRecentEntries: 0,
  });
  const { entries: made } = await strategy.compact({ sessionId: "s", entries, trigger: secret });
  assertClean(made, [secret], "entry");
});

test("E126 property: secrets that overlap, straddle a cut or a line, or are made by masking", async () => {
  const alphabet = ["a", "b", "*", "#", "\n", " ", ":", "user: ", '"', "\\", "😀", "é"];
  for (let seed = 0; seed < 1_500; seed++) {
    const draw = random(seed);
    const text = (/** @type {number} */ most) => draw.list(1, most, () => draw.pick(alphabet)).join("");
    const secrets = draw.list(1, 5, () => text(4));
    const entries = branch(
      draw.list(1, 8, () =>
        draw.chance(0.3)
          ? { kind: "label", label: text(9) }
          : said(draw.pick(["user", "assistant"]), text(30)),
      ),
    );
    const maxSummaryChars = draw.pick([0, 1, 5, 20, 40, 4_000]);
    const strategy = createDefaultCompactionStrategy({
      secrets,
      maxSummaryChars,
      keepRecentEntries: draw.between(0, 2),
    });
    const context = { sessionId: "s", entries };
    const { summary, entries: made } = await strategy.compact(context);
    assert.ok(summary.length <= maxSummaryChars, `seed ${seed}`);
    assertClean(
      summary,
      secrets.filter((secret) => !"…".includes(secret)),
      `seed ${seed}`,
    );
    const again = await strategy.compact({ sessionId: "s", entries: [...entries, ...made] });
    assertClean(again.summary, secrets, `seed ${seed}, again`);
  }
});

test("E126 a secret at every place around the cut leaves no part", async () => {
  const secret = "0123456789abcdef";
  for (let lead = 0; lead < 60; lead++) {
    const entries = branch([said("user", `${"x".repeat(lead)}${secret}${"y".repeat(60)}`)]);
    const strategy = createDefaultCompactionStrategy({
      secrets: [secret],
      maxSummaryChars: 40,
      keepRecentEntries: 0,
    });
    const { summary } = await strategy.compact({ sessionId: "s", entries });
    assert.doesNotMatch(summary, /[0-9a-f]{2}/, `${lead}`);
  }
});

test("E126 a secret of many lines in an earlier summary leaves no part at the cut", async () => {
  const secret = ["BEGIN KEY", "ABCD".repeat(30), "EFGH".repeat(30), "END KEY"].join("\n");
  const summary = `the key\n${secret}\nis here`;
  const other = entry("c", "e1", { kind: "compaction", summary, data: { throughEntryId: "e1" } });
  for (let most = 0; most < 400; most += 7) {
    const strategy = createDefaultCompactionStrategy({ keepRecentEntries: 0, maxSummaryChars: most });
    const { summary: next } = await strategy.compact({
      ...{ sessionId: "s", entries: [...talk(2), other], secrets: [secret] },
    });
    assert.doesNotMatch(next, /KEY|ABCD|EFGH/, `${most}`);
  }
});

test("E31 errors lose secrets in message, name and code", () => {
  const secret = "sk-live-0123";
  const thrown = Object.assign(new Error(`401 for ${secret}`), {
    code: `bad_${secret}`,
    name: secret,
    body: secret,
  });
  assertClean(errorToErrorInfo(thrown, [secret, undefined]), [secret], "error");
  assert.equal(errorToErrorInfo(thrown, [secret]).message, "401 for ************");
  assertClean(errorToErrorInfo(secret, [secret]), [secret], "text");
  const response = { status: 500, headers: { "retry-after": secret } };
  assertClean(
    httpStatusError(response, { message: `at ${secret}`, secrets: [secret] }).message,
    [secret],
    "status",
  );
});

test("E17 E31 redactSecrets masks plain data at any depth, names of fields too, and copies", () => {
  const secret = "sk-live-0123";
  const event = {
    type: "retry_scheduled",
    error: { message: `for ${secret}`, cause: new Error(secret) },
    list: [secret, { [secret]: 1, ["__proto__"]: secret }, null, 5, true, undefined],
    at: new Date(0),
    json: { toJSON: () => ({ key: secret }) },
    boxed: new String(secret),
    bytes: new Uint8Array(2),
  };
  const shown = redactSecrets(event, [secret]);
  assertClean(shown, [secret], "event");
  assert.equal(shown.error.message, "for ************");
  assert.equal(/** @type {any} */ (shown.at), "1970-01-01T00:00:00.000Z");
  assert.ok(event.error.message.includes(secret), "the event itself is as it was");
  assert.deepEqual(redactSecrets(event.list, []), event.list);
  assert.equal(redactSecrets(`x ${secret}`, [secret]), "x ************");
  assert.equal(redactSecrets(7, [secret]), 7);
});

test("E126 what is no secret is as it was, half a character too", () => {
  const halves = { first: "a\ud83d", second: "\ude00b" };
  assert.deepEqual(redactSecrets(halves, ["x"]), halves);
  assert.deepEqual(redactSecrets(halves, ["\ud83d"]), { first: "a*", second: "\ude00b" });
});

test("E17 E126 property: nothing of an event survives that is a secret", () => {
  for (let seed = 0; seed < 500; seed++) {
    const draw = random(seed);
    const words = draw.list(2, 6, () =>
      draw.list(1, 6, () => draw.pick(["a", "b", "c", "*", '"', "\n"])).join(""),
    );
    const secrets = draw.list(1, 3, () => draw.pick(words));
    const value = draw.list(1, 6, (at) => ({
      ...anyFields(draw, at),
      [draw.pick(words)]: [draw.pick(words) + draw.pick(words)],
    }));
    const shown = redactSecrets(value, secrets);
    const texts = (/** @type {any} */ of) =>
      typeof of === "string"
        ? [of]
        : of && typeof of === "object"
          ? Object.entries(of).flat().flatMap(texts)
          : [];
    for (const text of texts(shown)) assertClean(text, secrets, `seed ${seed}`);
  }
});

test("E68 E126 a compaction that is to be stored holds no secret, whoever wrote it, and its ids stay", async () => {
  const secret = "sk-live-0123";
  const entries = branch([said("user", "x")], secret);
  const context = { sessionId: "s", entries, secrets: [secret] };
  const { entries: made } = await createDefaultCompactionStrategy().compact(context);
  const leaks = {
    summary: `the key is ${secret}`,
    entries: [{ ...made[0], summary: `the key is ${secret}` }],
  };
  const rewrites = [
    undefined,
    { run: () => ({ result: { ...leaks, summary: `again ${secret}` } }) },
    { run: () => ({ result: { ...leaks, entries: [{ ...made[0], summary: `other ${secret}` }] } }) },
  ];
  for (const middleware of rewrites) {
    const stored = await applyCompactionMiddleware({ context, result: leaks }, middleware);
    assertClean([stored?.summary, stored?.entries[0].summary], [secret], "stored");
    assert.equal(stored?.entries[0].parentId, entries[0].id);
    assert.deepEqual(stored?.entries[0].data, made[0].data);
  }
});

test("E17 E126 of what is to be stored a secret is in no field but those that name entries", async () => {
  const secret = "sk-live-0123";
  const context = { sessionId: "s", entries: [], secrets: [secret, "data"] };
  const names = { id: secret, parentId: secret, sessionId: secret, timestamp: secret, kind: "compaction" };
  const data = { throughEntryId: secret, keepEntryIds: [secret], strategy: secret, notes: [{ of: secret }] };
  const entry = { ...names, summary: "x", label: secret, data };
  const stored = await applyCompactionMiddleware({ context, result: { summary: "x", entries: [entry] } });
  const mask = "*".repeat(secret.length);
  const shown = { ...data, strategy: mask, notes: [{ of: mask }] };
  assert.deepEqual(stored?.entries, [{ ...names, summary: "x", label: mask, data: shown }]);
});

test("E126 middleware that empties the list of secrets hides none from it", async () => {
  const result = { summary: "sk-live-0123", entries: [] };
  const context = { sessionId: "s", entries: [], secrets: ["sk-live-0123"] };
  const empties = {
    run: (/** @type {string} */ _, /** @type {any} */ payload) => void payload.context.secrets.pop(),
  };
  const stored = await applyCompactionMiddleware({ context, result }, empties);
  assert.equal(stored?.summary, "************");
});

test("E17 E31 E126 secrets are in no event, error, stored entry or request behind a compaction", async () => {
  const secret = "sk-live-0123";
  const store = createMemoryStore(talk(12, (at) => `${at} ${secret}`));
  const compaction = {
    secrets: [secret],
    keepRecentEntries: 0,
    trigger: { type: "custom", shouldCompact: () => true },
  };
  const retry = { baseDelayMs: 0, secrets: [secret] };
  const {
    session: made,
    events,
    requests,
  } = session({ store, compaction, retry }, [
    fails({ message: `503 for ${secret}`, code: 503 }),
    answers(`it was ${secret}`),
  ]);
  await made.run("hello");
  await made.compact();
  assert.ok(events.length > 5);
  assert.doesNotMatch(JSON.stringify(events), /sk-live-0123/);
  const compactions = (await entriesOf(store)).filter((/** @type {any} */ { kind }) => kind === "compaction");
  assert.equal(compactions.length, 2);
  assert.doesNotMatch(JSON.stringify(compactions), /sk-live-0123/);
  assert.doesNotMatch(JSON.stringify(requests), /sk-live-0123/);
});

test("E128 a runtime's redactor acts where entries are stored, beside the lists of secrets", async () => {
  const redactor = (/** @type {any} */ entry) =>
    JSON.parse(JSON.stringify(entry).replaceAll("alpha", "(redacted)"));
  const { session: made, store } = stored(3, {
    redactor,
    compaction: { secrets: ["beta"], keepRecentEntries: 0 },
  });
  await made.run("alpha and beta");
  await made.compact();
  const entries = await entriesOf(store);
  assert.doesNotMatch(JSON.stringify(entries), /alpha/);
  assert.match(entries[3].message.content[0].text, /^\(redacted\) and beta$/);
  assert.match(entries.at(-1).summary, /user: \(redacted\) and \*{4}/);
});

test("E10 E17 E31 the secrets of one run count for its events", async () => {
  const secret = "sk-live-0123";
  const options = [{ compaction: { secrets: [secret] } }, { retry: { secrets: [secret], baseDelayMs: 0 } }];
  for (const option of options) {
    const failing = { message: `503 for ${secret}`, code: 503 };
    const script = [fails(failing), answers(`it was ${secret}`)];
    const { session: made, events } = stored(1, { retry: { baseDelayMs: 0 } }, script);
    await made.run("hello", option);
    assert.ok(events.length > 2);
    assertClean(events, [secret], Object.keys(option)[0]);
  }
});
