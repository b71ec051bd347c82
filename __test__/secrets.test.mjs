import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { generateCompaction } from "../index.js";
import { failed, prepared, RETRY, run, says, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { answer, call, result, toolCalls, userOfTokens } from "./support/sound.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

/** Plain, with what JSON escapes, with what it escapes in six units, not ASCII, and one that another begins. */
const SECRETS = [
  "sk-live-0123456789abcdef",
  'p"a\\ss\nw\tord',
  "\u0001\u0002bell\u0007",
  "пароль-秘密-😀",
  "sk-live",
];
/** As they stand in JSON. */
const FORMS = [...SECRETS, ...SECRETS.map((secret) => JSON.stringify(secret).slice(1, -1))];

/** @param {unknown} where @param {string} title */
function assertClean(where, title) {
  const text = typeof where === "string" ? where : JSON.stringify(where);
  for (const form of FORMS) assert.ok(!text.includes(form), `${title}: ${JSON.stringify(form)}`);
}

/** @type {Record<string, (secret: string) => Message[]>} */
const PLACES = {
  user: (secret) => [{ role: "user", content: `key ${secret} end` }],
  "a user's blocks": (secret) => [{ role: "user", content: [{ type: "text", text: secret }] }],
  assistant: (secret) => [answer(`it is ${secret}`)],
  thinking: (secret) => [
    { role: "assistant", content: [{ type: "thinking", thinking: secret }], stopReason: "stop" },
  ],
  argument: (secret) => [call("c", { command: `curl -H ${secret}` }), result("c")],
  "nested argument": (secret) => [call("c", { a: [{ b: { c: secret } }] }), result("c")],
  "argument name": (secret) => [call("c", { [secret]: "v" }), result("c")],
  "nested argument name": (secret) => [call("c", { a: { [secret]: "v" } }), result("c")],
  "arguments that are no object": (secret) => [call("c", secret), result("c")],
  "an exotic argument": (secret) => [
    call("c", { a: { toJSON: () => secret }, b: new String(secret) }),
    result("c"),
  ],
  path: (secret) => [call("c", { path: `/home/${secret}/a.ts` }), result("c")],
  "tool name": (secret) => [
    { role: "assistant", content: [{ type: "toolCall", id: "c", name: secret, arguments: {} }] },
  ],
  "tool output": (secret) => [call("c"), result("c", `out ${secret} put ${secret}`)],
  "tool output as JSON": (secret) => [call("c"), result("c", JSON.stringify({ key: secret }))],
  "a failed tool's output": (secret) => [call("c"), { ...result("c", `Error: ${secret}`), isError: true }],
  "bash command": (command) => [{ role: "bashExecution", command, output: "", exitCode: 0 }],
  "bash output": (output) => [{ role: "bashExecution", command: "env", output, exitCode: 1 }],
  "bash's own file": (fullOutputPath) => [
    { role: "bashExecution", command: "env", output: "", exitCode: 0, truncated: true, fullOutputPath },
  ],
  custom: (content) => [{ role: "custom", customType: "note", display: true, content }],
  branch: (summary) => [{ role: "branchSummary", summary, fromId: "b" }],
  compaction: (summary) => [{ role: "compactionSummary", summary, tokensBefore: 1 }],
};

const small = (script = /** @type {any[]} */ (["SUMMARY"])) => windowed(32_768, 8_192, script);

/** Everything that leaves a run. @param {Awaited<ReturnType<typeof run>>} outcome @param {string} title */
function assertSealed({ calls, result: checkpoint, events, error }, title) {
  for (const { prompt, system } of calls) {
    assertClean(prompt, `${title}: prompt`);
    assertClean(system, `${title}: system`);
  }
  assertClean(events, `${title}: events`);
  if (checkpoint) {
    assertClean(checkpoint.summary, `${title}: summary`);
    assertClean(checkpoint.details, `${title}: details`);
  }
  if (error) assertErrorClean(error, title);
}

/** @param {any} error @param {string} title */
function assertErrorClean(error, title) {
  assertClean(error.message, `${title}: message`);
  assertClean(JSON.stringify(error), `${title}: JSON`);
  assertClean(error.stack, `${title}: stack`);
  const bare = Object.assign(Object.create(Object.getPrototypeOf(error)), error);
  assertClean(inspect(bare, { depth: 9, showHidden: true }), `${title}: inspected`);
}

for (const [place, messagesOf] of Object.entries(PLACES)) {
  test(`hermes PR#12734 E126 secrets in ${place} leave in no prompt, summary, list or event`, async () => {
    for (const secret of SECRETS) {
      const messages = [...messagesOf(secret), { role: "user", content: "go" }];
      for (const dialect of ["pi-0.87", "pi-1.6"]) {
        const outcome = await run(small(), prepared(messages), { secrets: SECRETS, dialect });
        assert.equal(outcome.error, undefined);
        assertSealed(outcome, JSON.stringify(secret));
      }
      const extracted = await generateCompaction({
        preparation: prepared(messages),
        budget: { hardLimit: 100_000, requestHeadroom: 28_000 },
        summarizer: { kind: "extractive" },
        secrets: SECRETS,
      });
      assertClean(extracted.summary, `extractive: ${secret}`);
      assertClean(extracted.details, `extractive details: ${secret}`);
    }
  });
}

test("E126 a secret across the cap of a tool result leaves no part that could be used", async () => {
  const secret = SECRETS[0];
  for (let at = 1_970; at <= 2_002; at++) {
    for (const blocks of [
      [`${"o".repeat(at)}${secret}${"t".repeat(90)}`],
      ["o".repeat(at), secret, "t".repeat(90)],
    ]) {
      const content = blocks.map((text) => ({ type: "text", text }));
      for (const dialect of ["pi-0.87", "pi-1.6"]) {
        const messages = [call("c"), { ...result("c"), content }];
        const { calls } = await run(small(), prepared(messages), { secrets: [secret], dialect });
        assert.ok(!calls[0].prompt.includes("sk-live"), `${at} ${dialect} in ${blocks.length} blocks`);
      }
    }
  }
});

test("E126 a secret across the reduction's 500 units leaves no part", async () => {
  const [secret] = SECRETS;
  for (let at = 470; at <= 501; at += 3) {
    const messages = toolCalls(60, `${"o".repeat(at)}${secret}${"t".repeat(2_000)}`);
    const { calls, events } = await run(small(), prepared(messages), { secrets: [secret] });
    assert.equal(events[0].reduced, true);
    assert.ok(!calls[0].prompt.includes("sk-live"), `${at}`);
  }
});

test("E126 a secret across the cut of a message leaves no part", async () => {
  const [secret] = SECRETS;
  const content = `${secret} `.repeat(20_000);
  const { calls } = await run(small(), prepared([{ role: "user", content }]), { secrets: [secret] });
  for (const { prompt } of calls) assert.ok(!/sk-l|cdef/.test(prompt));
});

test("E126 a secret across two texts that print without a gap is a secret", async () => {
  const blocks = ["key sk-live-01234", "56789abcdef end"].map((text) => ({ type: "text", text }));
  for (const message of [
    { role: "user", content: blocks },
    { ...result("c"), content: blocks },
  ]) {
    const outcome = await run(small(), prepared([call("c"), message]), { secrets: [SECRETS[0]] });
    assertClean(outcome.calls[0].prompt, message.role);
  }
});

test("E126 secrets of the previous summary and of its file lists do not come back", async () => {
  for (const secret of SECRETS.filter((text) => !text.includes("\n"))) {
    const list = `<read-files>\n/home/${secret}/a.ts\n</read-files>`;
    const previousSummary = `## Goal\nUse ${secret}\n\n${list}`;
    for (const more of [{}, { isSplitTurn: true, turnPrefixMessages: [userOfTokens(9)] }]) {
      const history = more.isSplitTurn ? [] : [userOfTokens(9)];
      const outcome = await run(small(), prepared(history, { ...more, previousSummary }), {
        secrets: SECRETS,
      });
      assertSealed(outcome, secret);
    }
  }
});

test("E126 secrets in the host's fileOps do not get into lists and details", async () => {
  const [secret] = SECRETS;
  const fileOps = { read: new Set([`/a/${secret}`]), written: new Set([`/b/${secret}`]), edited: new Set() };
  assertSealed(await run(small(), prepared([userOfTokens(9)], { fileOps }), { secrets: SECRETS }), "fileOps");
});

test("E126 secrets in custom instructions and prompts do not leave", async () => {
  const [secret] = SECRETS;
  const words = `use ${secret}`;
  const more = { secrets: SECRETS, customInstructions: words, prompts: { system: words, initial: words } };
  assertSealed(await run(small(), prepared([userOfTokens(9)]), more), "instructions");
});

test("E126 secrets in a model's answer are neither stored nor carried on", async () => {
  const long = prepared(Array.from({ length: 60 }, () => userOfTokens(1_000)));
  for (const secret of SECRETS) {
    const parts = [secret.slice(0, 4), secret.slice(4)].map((text) => ({ type: "text", text }));
    for (const script of [[`the key is ${secret}.`], [says("", { content: parts })]]) {
      assertSealed(await run(small(script), long, { secrets: SECRETS }), secret);
    }
    const split = prepared([userOfTokens(9)], { isSplitTurn: true, turnPrefixMessages: [userOfTokens(9)] });
    assertSealed(await run(small([secret]), split, { secrets: SECRETS }), "split");
  }
});

test("E126 masks are as long as the secret, so that sizes stay", async () => {
  const [secret] = SECRETS;
  const messages = [{ role: "user", content: `key ${secret} end` }];
  const [plain, masked] = [
    await run(small(), prepared(messages)),
    await run(small(), prepared(messages), { secrets: [secret] }),
  ];
  assert.equal(masked.calls[0].prompt.length, plain.calls[0].prompt.length);
  assert.match(masked.calls[0].prompt, /key \S+ end/);
});

test("E126 nothing else is touched: empty strings, near misses, other cases", async () => {
  const text = "key SK-LIVE sk-liv sk live ** end";
  const { calls } = await run(small(), prepared([{ role: "user", content: text }]), {
    secrets: ["", "sk-live"],
  });
  assert.ok(calls[0].prompt.includes(text));
});

test("B38 A28 no provider text, prompt or secret is in an error of any kind", async () => {
  const [secret] = SECRETS;
  const messages = frozen([{ role: "user", content: `TRANSCRIPT-WORDS ${secret}` }]);
  const body = `401 {"error":{"message":"bad key ${secret} at https://internal.example.com PROVIDER-WORDS"}}`;
  const steps = [
    failed(body),
    new Error(body),
    Object.assign(new Error(body), {
      status: 400,
      headers: { authorization: secret },
      error: { message: body },
    }),
    failed(`prompt is too long ${body}`),
    says(`${secret} cut`, { stopReason: "length" }),
    says(`  `, { errorMessage: body }),
    says(secret, { stopReason: "toolUse" }),
    body,
    null,
    `${secret}`,
  ];
  for (const step of steps) {
    const throwing = () => (step === body ? Promise.reject(body) : step);
    const script = [typeof step === "string" || step === null ? throwing : step];
    for (const secrets of [SECRETS, undefined]) {
      const outcome = await run(small(script), prepared(messages), {
        secrets,
        retry: { ...RETRY, maxRetries: 1 },
      });
      assert.ok(outcome.error, String(step));
      assertErrorClean(outcome.error, String(step));
      assertClean(outcome.events, "events");
      const shown = JSON.stringify(outcome.error) + outcome.error.message + JSON.stringify(outcome.events);
      assert.doesNotMatch(shown, /WORDS|example\.com/);
    }
  }
});

test("secrets that are no strings are invalid_argument, and the message does not quote them", async () => {
  for (const secrets of ["sk-live-1", [5], [null], { 0: "sk-live-1" }, [["sk-live-1"]]]) {
    const { error } = await run(small(), prepared([userOfTokens(9)]), { secrets });
    assert.equal(error?.code, "invalid_argument", JSON.stringify(secrets));
    assert.ok(!error.message.includes("sk-live"));
  }
});
