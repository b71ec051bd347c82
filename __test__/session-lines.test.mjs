// Lines of a session file as `JSON.parse` reads them: odd spellings, broken lines, bytes that are no text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { estimateContextTokens, serializeConversation } from "../index.js";
import { DIALECTS } from "./support/oracle.mjs";
import { random } from "./support/random.mjs";
import {
  assertAnswers,
  assertReading,
  assertSkipped,
  openSession,
  openUntouched,
  sessionFolder,
} from "./support/session-open.mjs";
import { asPiReads } from "./support/session-oracle.mjs";
import { mutated, NUMBERS, spelled } from "./support/session-texts.mjs";
import { storedMessages } from "./support/session-trees.mjs";

/** @typedef {import("./support/random.mjs").Random} Random */

const { file } = sessionFolder("lines");
const MB = 1 << 20;
/** Version 1: each line stands for itself, whatever becomes of its neighbours. */
const HEADER = '{"type":"session","id":"s"}';
const bytes = (/** @type {(string | Uint8Array)[]} */ ...parts) =>
  Buffer.concat(parts.map((part) => Buffer.from(/** @type {any} */ (part))));
const user = (/** @type {string} */ content) =>
  `{"type":"message","message":{"role":"user","content":${content}}}`;
const calling = (/** @type {string} */ args) =>
  `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":${args}}]}}`;
const LAST = user('"last"');

/** Lines after a header, each ended by LF. @param {(string | Uint8Array)[]} lines */
const fileOf = (...lines) => bytes(`${HEADER}\n`, ...lines.flatMap((line) => [line, "\n"]));

/** A file whose messages are strictly those of `JSON.parse`, sized one by one. @param {Buffer} content @param {string} title @param {number} seed */
async function assertLines(content, title, seed = 0) {
  const reading = asPiReads(content);
  assert.ok(reading, title);
  const session = await openUntouched(file(content));
  assertReading(session, reading, title);
  const plain = reading.messages;
  assert.deepEqual([...session], plain, title);
  for (const dialect of DIALECTS) {
    const sizes = (/** @type {(index: number) => any} */ at) =>
      plain.map((_, index) => estimateContextTokens(at(index), { dialect }).tokens);
    assert.deepEqual(
      sizes((index) => session.range(index, index + 1)),
      sizes((index) => plain.slice(index, index + 1)),
      `${title}: sizes, ${dialect}`,
    );
    const texts = [session, plain].map((given) => serializeConversation(given, { dialect }));
    assert.equal(texts[0], texts[1], `${title}: text, ${dialect}`);
  }
  assertAnswers(session, plain, seed);
  return { session, reading };
}

/** @type {Record<string, (string | Uint8Array)[]>} */
const SPELLINGS = {
  "lines end at LF only, a CR before it is tolerated": [
    user('"a\u2028b\u2029c\u0085d"'),
    `${user('"cr"')}\r`,
    "\r",
    ` \t${user('"blanks around"')} \t\r`,
  ],
  "halves of pairs as escapes": [user('"\\ud83d"'), user('"\\ude00\\ud83d"'), user('"x\\ud83dx\\uDE00"')],
  "pairs as escapes": [user('"\\ud83d\\ude00 \\uD83D\\uDE00 😀"'), user('"\\ud83d\\u0041"')],
  "the last of two members counts": [
    user('"first","content":"last"'),
    '{"type":"label","type":"message","message":{},"message":{"role":"bashExecution","role":"user","content":"x"}}',
    '{"type":"message","t\\u0079pe":"label","message":{"role":"user","content":"gone"}}',
    calling('{"a":1,"b":2,"a":3}'),
    calling('{"\\u0061":1,"b":2,"a":{"x":1,"y":2,"x":3}}'),
  ],
  "odd escapes": [
    user('"\\/ \\u0041 \\u00E9 \\u00e9 \\b\\f\\n\\r\\t \\\\ \\" \\u0000 \\u001F \\u007F \\uFEFF"'),
    calling('{"p\\u0061th":"\\/a\\/b","\\u0022":"\\u005C"}'),
  ],
  "odd numbers": [
    ...NUMBERS.map((number) => calling(`{"n":${number},"deep":[${number}]}`)),
    ...NUMBERS.map(
      (number) => `{"type":"message","message":{"role":"user","content":"x","timestamp":${number}}}`,
    ),
    ...NUMBERS.map(
      (number) =>
        `{"type":"message","message":{"role":"assistant","content":[],"stopReason":"stop","usage":{"input":1,"output":1,"totalTokens":${number}}}}`,
    ),
    ...NUMBERS.map(
      (number) =>
        `{"type":"message","message":{"role":"bashExecution","command":"a","output":"b","exitCode":${number}}}`,
    ),
  ],
  "blanks around every token": [
    '\t{ "type"\r:\t"message" , "message" : { "role" : "user" , "content" : [ { "type" : "text" , "text" : "x" } , null ] } }\t',
    calling(' { "a" : [ 1 , 2 ] , "b" : { } , "c" : [ ] , "d" : true , "e" : null } '),
  ],
  "members in another order": [
    '{"message":{"content":[{"text":"x","type":"text"}],"role":"user"},"type":"message"}',
    '{"message":{"content":[{"arguments":{"b":1,"a":2},"name":"n","id":"c","type":"toolCall"}],"role":"assistant"},"type":"message"}',
    '{"message":{"isError":false,"content":"late","toolCallId":"c","role":"toolResult"},"type":"message"}',
    '{"message":{"output":"o","exitCode":1,"command":"c","role":"bashExecution"},"type":"message"}',
  ],
  "arguments whose keys JavaScript sorts or treats apart": [
    calling('{"b":1,"10":2,"9":3,"a":4,"-1":5,"01":6,"4294967294":7,"4294967295":8,"0":9}'),
    calling('{"x":{"b":1,"2":2,"1":3},"y":[{"7":1,"3":2}]}'),
    calling('{"__proto__":{"polluted":true},"constructor":1,"toJSON":2,"hasOwnProperty":3,"":4}'),
    '{"__proto__":{"type":"label"},"type":"message","message":{"__proto__":{"role":"user"},"role":"user","content":"x"}}',
    '{"type":"message","message":{"__proto__":{"role":"user","content":"inherited"},"role":"odd"}}',
  ],
  "members that are strangers to the message": [
    '{"type":"message","content":"outer","role":"user","message":{"role":"user","content":"inner","message":{"content":"inmost"},"extra":{"content":[{"type":"text","text":"no"}]}}}',
    '{"message":{"role":"user","content":"a"},"data":{"message":{"role":"user","content":"b"},"type":"label"},"type":"message"}',
  ],
  "contents of every kind": [
    ...["null", "7", "true", "{}", '["a",1,null,[]]', '{"type":"text","text":"x"}', '""', "[]"].map(user),
    ...['""', "null", "[1]", '"text"', "7"].map(calling),
    '{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n"}]}}',
    '{"type":"message","message":{"role":"system"}}',
    '{"type":"message","message":{"content":"no role"}}',
    '{"type":"message","message":{"role":7,"content":"role is a number"}}',
    '{"type":"message","message":{"role":"hookMessage","content":"old"}}',
    '{"type":"message","message":{}}',
  ],
};
for (const [name, lines] of Object.entries(SPELLINGS)) {
  test(`${name}: messages and sizes are those of JSON.parse`, async () => {
    const { session, reading } = await assertLines(fileOf(...lines, LAST), name);
    assert.equal(reading.messages.at(-1)?.content, "last");
    assert.deepEqual(session.skipped, []);
    await assertLines(bytes("\ufeff", fileOf(...lines)), `${name}, after a byte order mark`);
    await assertLines(bytes(HEADER, "\r\n", lines.join("\r\n")), `${name}, no LF at the end`);
  });
}

test("lines that cannot be used are named with their reason, and the others load", async () => {
  const bad = {
    '{"type":"message","message":{"role":"user","content":"a"': "not valid JSON",
    [`${LAST}${LAST}`]: "not valid JSON",
    [`${LAST} ${LAST}`]: "not valid JSON",
    [`${LAST},`]: "not valid JSON",
    '{"type":"message","message":{"role":"user","content":"tab\there"}}': "not valid JSON",
    '{"type":"message","message":{"role":"user","content":"nul\u0000"}}': "not valid JSON",
    [user("'single'")]: "not valid JSON",
    [user("01")]: "not valid JSON",
    [user("1.")]: "not valid JSON",
    [user(".5")]: "not valid JSON",
    [user("NaN")]: "not valid JSON",
    [user('"\\x41"')]: "not valid JSON",
    [user('"\\u00g0"')]: "not valid JSON",
    [user("[1,]")]: "not valid JSON",
    [`\u00a0${LAST}`]: "not valid JSON",
    [`\ufeff${LAST}`]: "not valid JSON",
    [`\u000b${LAST}`]: "not valid JSON",
    "plain words": "not valid JSON",
    "[]": "not a JSON object",
    7: "not a JSON object",
    null: "not a JSON object",
    '"text"': "not a JSON object",
    "{}": "an entry without a type",
    '{"type":7,"message":{"role":"user","content":"x"}}': "an entry without a type",
    '{"type":"message"}': "a message entry without a message",
    '{"type":"message","message":null}': "a message entry without a message",
    '{"type":"message","message":"text"}': "a message entry without a message",
    '{"type":"message","message":[]}': "a message entry without a message",
  };
  const lines = Object.keys(bad).flatMap((line, index) => [user(`"${index}"`), line]);
  const { session, reading } = await assertLines(fileOf(...lines, LAST), "bad lines");
  assert.equal(reading.messages.length, Object.keys(bad).length + 1);
  const expected = Object.values(bad).map((reason, index) => ({ line: 3 + index * 2, reason }));
  assert.deepEqual([...session.skipped], expected);
});

test("a file of nothing but unusable lines opens, and names the first thousand", {
  timeout: 60_000,
}, async () => {
  const few = await openSession(file(fileOf("{broken")));
  assert.deepEqual([few.length, few.skippedCount, few.skipped.length], [0, 1, 1]);
  const future = await openSession(file(fileOf('{"type":"of a later pi","id":"a","parentId":null}')));
  assert.deepEqual([future.length, future.skippedCount], [0, 0]);
  const many = await openSession(file(`${fileOf(LAST)}${"{\n".repeat(300_000)}${LAST}\n`));
  assert.deepEqual([many.length, many.skippedCount, many.skipped.length], [2, 300_000, 1_000]);
  assert.deepEqual(
    [many.skipped[0], many.skipped.at(-1)],
    [3, 1_002].map((line) => ({ line, reason: "not valid JSON" })),
  );
});

test("a last line that is cut anywhere is told from one that is wrong", async () => {
  const whole = bytes(calling('{"é":[1.5e3,true,null,"\\ud83d\\ude00 😀"],"b":{"c":false}}'));
  const before = fileOf(user('"kept"'));
  for (let length = 1; length < whole.length; length++) {
    const session = await openSession(file(bytes(before, whole.subarray(0, length))));
    const reason = "cut off: the file ends inside this line";
    assert.deepEqual([...session.skipped], [{ line: 3, reason }], `after ${length} bytes`);
    assert.equal(session.length, 1);
  }
  const complete = await openSession(file(bytes(before, whole)));
  assert.deepEqual([complete.length, [...complete.skipped]], [2, []]);
  const wrong = await openSession(file(bytes(before, "{wrong}")));
  assert.deepEqual([...wrong.skipped], [{ line: 3, reason: "not valid JSON" }]);
});

test("bytes that are no UTF-8 become U+FFFD as in pi, and lose no line", async () => {
  const sequences = [
    "ff",
    "c080",
    "eda080",
    "edb080",
    "f09f98",
    "e282",
    "f5808080",
    "80",
    "c3",
    "f0808080",
    "fe41ff",
  ];
  const lines = sequences.flatMap((hex) => {
    const odd = Buffer.from(hex, "hex");
    return [
      bytes('{"type":"message","message":{"role":"user","content":"a', odd, 'b"}}'),
      bytes('{"type":"message","message":{"role":"user","content":"', odd, odd, '"}}'),
      bytes('{"type":"message","k', odd, '":1,"message":{"role":"user","content":"x"}}'),
      bytes(calling("{}").slice(0, -4), odd, "}]}}"),
      bytes(calling('{"k').slice(0, -4), odd, '":"', odd, '"}}]}}'),
    ];
  });
  const { reading } = await assertLines(fileOf(...lines, LAST), "no UTF-8");
  assert.ok(reading.messages.length > 3 * sequences.length);
});

test("text over the ends of what is read at once stays whole", async () => {
  for (const pad of [0, 1, 2, 3]) {
    const wide = "😀é漢\\ud83d\\ude00\\n".repeat(3_000);
    const lines = Array.from({ length: 60 }, (_, index) => user(`"${"x".repeat(pad + index * 7)}${wide}"`));
    const content = bytes(`${HEADER}\r\n`, lines.join("\r\n"), "\r\n");
    assert.ok(content.length > 3 * MB);
    await assertLines(content, `pad ${pad}`, pad);
  }
});

test("an emoji at the cap of a tool result is cut or kept as the dialect has it", async () => {
  const lines = [];
  for (let at = 1_995; at <= 2_003; at++)
    for (const emoji of ["😀", "\\ud83d\\ude00", "\\uD83D😀", "\\ude00", "é", "\\u00e9", "\u2028"]) {
      const text = `"${"a".repeat(at)}${emoji}${"b".repeat(30)}"`;
      const half = Math.floor(at / 2);
      const blocks = [`"${"a".repeat(half)}"`, `"${"a".repeat(at - half)}${emoji}tail"`];
      for (const content of [
        text,
        `[{"type":"text","text":${text}}]`,
        `[${blocks.map((part) => `{"type":"text","text":${part}}`).join(",")}]`,
      ])
        lines.push(
          `{"type":"message","message":{"role":"toolResult","toolCallId":"c","content":${content}}}`,
        );
    }
  await assertLines(fileOf(...lines), "at the cap");
});

test("lines of 16 MB are read without holding much more", { timeout: 120_000 }, async () => {
  const long = "é😀x\\n".repeat((16 * MB) / 9);
  const result = `{"type":"message","message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"${long}"}]}}`;
  const content = fileOf(user('"a"'), user(`"${long}"`), user('"b"'), result, LAST);
  const session = await openUntouched(file(content));
  assert.ok(session.peakBuffered < 64 * MB, `${session.peakBuffered}`);
  const plain = asPiReads(content)?.messages ?? [];
  assert.equal(session.length, 5);
  for (const [index, message] of [...session].entries())
    assert.ok(JSON.stringify(message) === JSON.stringify(plain[index]), `message ${index}`);
  assert.deepEqual(estimateContextTokens(session), estimateContextTokens(plain));
  for (const dialect of DIALECTS)
    assert.ok(
      serializeConversation(session, { dialect }) === serializeConversation(plain, { dialect }),
      dialect,
    );
});

test("a line beyond 64 MiB is passed over and named", { timeout: 120_000 }, async () => {
  const session = await openSession(file(fileOf(user('"a"'), user(`"${"x".repeat(65 * MB)}"`), LAST)));
  assert.deepEqual([...session.skipped], [{ line: 3, reason: "longer than 64 MiB" }]);
  assert.deepEqual(
    [...session].map(({ content }) => content),
    ["a", "last"],
  );
  assert.ok(session.peakBuffered <= 80 * MB, `${session.peakBuffered}`);
});

test("depth ends nothing", { timeout: 60_000 }, async () => {
  const deep = (/** @type {number} */ depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const nested = (/** @type {number} */ depth) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  await assertLines(
    fileOf(calling(`{"x":${deep(900)}}`), calling(nested(900)), user(deep(900)), LAST),
    "900 deep",
  );
  const around = `{"type":"message","data":${deep(100_000)},"message":{"role":"user","x":${nested(50_000)},"content":"a"}}`;
  const open = `${"[".repeat(MB)}`;
  const session = await openSession(
    file(fileOf(around, open, '{"a":'.repeat(MB / 8), calling(nested(50_000)), LAST)),
  );
  assertSkipped(
    session.skipped,
    [3, 4].map((line) => ({ line, reason: "not valid JSON" })),
    "unclosed",
  );
  assert.deepEqual([session.length, [...session].at(-1).content], [3, "last"]);
  assert.ok(estimateContextTokens(session).tokens > 0);
  for (const dialect of DIALECTS) assert.match(serializeConversation(session, { dialect }), /last$/);
});

/** A line of the fuzz: half are odd spellings, half are broken. @param {Random} rng @param {any} message @param {Buffer} other */
function fuzzed(rng, message, other) {
  const entry = { type: "message", timestamp: "2025-12-09T00:53:29.825Z", message };
  const line = Buffer.from(rng.chance(0.7) ? spelled(rng, entry) : JSON.stringify(entry));
  return rng.chance(0.5) ? line : mutated(rng, line, other);
}

test("30,000 lines, odd and broken, are read as JSON.parse reads them", { timeout: 300_000 }, async () => {
  const seen = { lines: 0, messages: 0, skipped: 0 };
  for (let seed = 0; seen.lines < 30_000; seed++) {
    const rng = random(seed + 31_337);
    const lines = /** @type {Buffer[]} */ ([Buffer.from(LAST)]);
    while (lines.length < 120)
      for (const message of storedMessages(rng, 12)) lines.push(fuzzed(rng, message, rng.pick(lines)));
    const { reading } = await assertLines(fileOf(...lines, LAST), `seed ${seed}`, seed);
    seen.lines += lines.length;
    seen.messages += reading.messages.length;
    seen.skipped += reading.skipped.length;
  }
  assert.ok(seen.messages > 15_000 && seen.skipped > 6_000, JSON.stringify(seen));
});
