// Every fault in every wire format, streamed and in one piece: the right code, the right number of requests, no hang,
// nothing secret. `npm run test:faults`; one representative of each class is in `http-failures.test.mjs`.

import assert from "node:assert/strict";
import test, { describe } from "node:test";
import { asked, assertSealed, FORMS } from "../support/http.mjs";
import { prepared } from "../support/model.mjs";
import { KEY } from "../support/provider.mjs";
import { errorEvent, errorOf, sse } from "../support/wire.mjs";
import { eventsOf, plainOf } from "../support/wire-answers.mjs";

/** @typedef {(typeof FORMS)[number]} Form */
/** How a fault ends: its code, and how often it is asked with two retries. @typedef {[code: string, requests: number]} End */

const WORDS = "PROVIDER-WORDS";
const PROMPT = "TRANSCRIPT-WORDS";
const SEALED = [KEY, WORDS, PROMPT];
const PREPARATION = prepared([{ role: "user", content: `${PROMPT} go` }]);
const RETRY = { enabled: true, maxRetries: 2, baseDelayMs: 0 };
const EVENTS = { "content-type": "text/event-stream" };
const HTML = { "content-type": "text/html; charset=utf-8" };

const TRANSIENT = /** @type {End} */ (["summary_provider", 3]);
const PERMANENT = /** @type {End} */ (["summary_provider", 1]);
const OVERFLOW = /** @type {End} */ (["context_overflow", 1]);
const INCOMPLETE = /** @type {End} */ (["summary_incomplete", 1]);
const EMPTY = /** @type {End} */ (["summary_empty", 1]);
const REFUSED = /** @type {End} */ (["summary_refused", 1]);
/** Whatever the code, it is bounded. */
const ANY = /** @type {End} */ (["", 3]);

/** @param {number} status @returns {End} */
function endOf(status) {
  if (status === 413) return OVERFLOW;
  return [408, 409, 425, 429].includes(status) || status >= 500 ? TRANSIENT : PERMANENT;
}

const STATUSES = [
  400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 415, 418, 421, 422, 425, 426, 429, 431, 451,
]
  .concat([500, 501, 502, 503, 504, 507, 508, 511, 520, 521, 522, 524, 529, 530, 599])
  .concat([300, 301, 302, 303, 304, 307, 308]);

/** Bodies that say no more than the status does. @type {[string, (form: Form, status: number) => any][]} */
const BODIES = [
  ["no body", () => ({ body: "" })],
  ["a page", () => ({ body: `<html>${WORDS}</html>`, headers: HTML })],
  [
    "an error",
    ({ api }, status) => ({ body: errorOf(api, { status, code: "odd", type: "odd", message: WORDS }) }),
  ],
  ["cut JSON", () => ({ body: `{"error":{"message":"${WORDS}` })],
  ["plain words", () => ({ body: WORDS, headers: { "content-type": "text/plain" } })],
  ["a reset", () => ({ body: `{"error":{"message":"${WORDS}`, at: 9, end: "reset" })],
];

/** @returns {[string, (form: Form) => any, End][]} */
function statuses() {
  return STATUSES.flatMap((status) =>
    BODIES.map(([title, stepOf]) => {
      const bare = status === 304 ? { body: "" } : undefined;
      // What a status without its body comes to is either its own class or that of a broken connection.
      const end = title === "a reset" ? ANY : endOf(status);
      const step = (/** @type {Form} */ form) => ({ status, ...(bare ?? stepOf(form, status)) });
      return /** @type {[string, (form: Form) => any, End]} */ ([`${status} with ${title}`, step, end]);
    }),
  );
}

/** Structured codes with the status that they come with. @type {[string, number, End][]} */
const CODES = [
  ["insufficient_quota", 429, PERMANENT],
  ["usage_limit_reached", 429, PERMANENT],
  ["rate_limit_exceeded", 429, TRANSIENT],
  ["rate_limit_error", 429, TRANSIENT],
  ["RESOURCE_EXHAUSTED", 429, TRANSIENT],
  ["overloaded_error", 529, TRANSIENT],
  ["server_error", 500, TRANSIENT],
  ["api_error", 500, TRANSIENT],
  ["UNAVAILABLE", 503, TRANSIENT],
  ["INTERNAL", 500, TRANSIENT],
  ["invalid_request_error", 400, PERMANENT],
  ["INVALID_ARGUMENT", 400, PERMANENT],
  ["authentication_error", 401, PERMANENT],
  ["permission_error", 403, PERMANENT],
  ["not_found_error", 404, PERMANENT],
  ["context_length_exceeded", 400, OVERFLOW],
  ["request_too_large", 413, OVERFLOW],
];

/** @returns {[string, (form: Form) => any, End][]} */
function codes() {
  return CODES.flatMap(([code, status, end]) => {
    const failure = { status, code, type: code, message: WORDS };
    const event = (/** @type {Form} */ { api }) => errorEvent(api, failure);
    const streamed = (/** @type {any[]} */ events) => ({ body: sse(events), headers: EVENTS });
    const begun = (/** @type {Form} */ { api }) => eventsOf(api, { ending: "none", text: WORDS });
    return /** @type {[string, (form: Form) => any, End][]} */ ([
      [`${status} ${code}`, ({ api }) => ({ status, body: errorOf(api, failure) }), end],
      [`200 with ${code} in its body`, ({ api }) => ({ body: errorOf(api, failure) }), end],
      [`${code} as the only event`, (form) => streamed([event(form)]), end],
      [`${code} after text`, (form) => streamed([...begun(form), event(form)]), end],
      [
        `${code} after text, then [DONE]`,
        (form) => streamed([...begun(form), event(form), { data: "[DONE]" }]),
        end,
      ],
      [`${code} before a whole answer`, (form) => streamed([event(form), ...eventsOf(form.api)]), end],
    ]);
  });
}

const LONG_TEXT = `${WORDS} `.repeat(40);

/** Where and how a connection ends. @returns {[string, (form: Form) => any, End][]} */
function breaks() {
  const ends = /** @type {const} */ (["normal", "half-close", "destroy", "reset"]);
  return ends.flatMap((end) => {
    const places = [0, 1, 20, 150, 400].map(
      (at) => /** @type {const} */ ([`${end} after ${at} bytes`, { at, end }]),
    );
    const raws = [
      "",
      "H",
      "HTTP/1.1 2",
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-",
    ];
    return /** @type {[string, (form: Form) => any, End][]} */ ([
      ...places.map(([title, cut]) => [title, () => ({ text: LONG_TEXT, ...cut }), TRANSIENT]),
      ...raws.map((raw) => [
        `${end} after ${JSON.stringify(raw)}`,
        () => ({ raw, end: end === "normal" ? "half-close" : end }),
        TRANSIENT,
      ]),
    ]);
  });
}

/** @returns {[string, (form: Form) => any, End][]} */
function silences() {
  const silent = /** @type {const} */ ("silent");
  return [
    ["silence before headers", () => ({ end: "never" }), TRANSIENT],
    ["silence before the first byte", () => ({ body: "", at: 0, end: silent }), TRANSIENT],
    ["silence after 20 bytes", () => ({ text: LONG_TEXT, at: 20, end: silent }), TRANSIENT],
    ["silence after 400 bytes", () => ({ text: LONG_TEXT, at: 400, end: silent }), TRANSIENT],
    ["silence in a status line", () => ({ raw: "HTTP/1.1 20", end: silent }), TRANSIENT],
    ["silence in an error's body", () => ({ status: 500, body: WORDS, at: 5, end: silent }), TRANSIENT],
  ];
}

/** @returns {[string, (form: Form) => any, End][]} */
function malformed() {
  const texts = [
    "{}",
    "[]",
    "null",
    "7",
    '""',
    "true",
    '{"choices":null}',
    '{"choices":[{}]}',
    '{"output":[{}]}',
  ];
  const more = [
    '{"content":[null]}',
    '{"candidates":[]}',
    '{"candidates":[{"content":null}]}',
    "\u0000",
    "}{",
    '{"a":',
  ];
  const wholes = [...texts, ...more].map((body) => [
    `200 with ${JSON.stringify(body)}`,
    () => ({ body, as: "plain" }),
    ANY,
  ]);
  const events = [...texts, ...more].map((data) => [
    `an event of ${JSON.stringify(data)} and no more`,
    () => ({ body: `data: ${data}\n\n`, headers: EVENTS }),
    ANY,
  ]);
  return /** @type {[string, (form: Form) => any, End][]} */ ([
    ...wholes,
    ...events,
    ["200 with a page", () => ({ body: `<!doctype html>${WORDS}`, headers: HTML }), PERMANENT],
    ["200 with nothing", () => ({ body: "" }), TRANSIENT],
    ["200 with blanks", () => ({ body: " \r\n\r\n " }), TRANSIENT],
    ["200 with comments only", () => ({ body: ": ping\n\n".repeat(2_000), headers: EVENTS }), TRANSIENT],
    ["200 with [DONE] only", () => ({ body: "data: [DONE]\n\n", headers: EVENTS }), TRANSIENT],
    [
      "200 with bytes that are no text",
      () => ({ body: Buffer.from([0xff, 0x00, 0xfe, 0x80]), headers: EVENTS }),
      ANY,
    ],
    ["200 with very deep JSON", () => ({ body: '{"a":'.repeat(50_000), as: "plain" }), ANY],
    ["204", () => ({ status: 204, body: "" }), ANY],
    ["no HTTP", () => ({ raw: `SSH-2.0-${WORDS}\r\n`, end: "half-close" }), ANY],
    [
      "headers without end",
      () => ({ raw: `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(2_000)}`, end: "half-close" }),
      ANY,
    ],
    [
      "a very long header",
      () => ({ raw: `HTTP/1.1 200 OK\r\nx: ${"y".repeat(2_000_000)}`, end: "half-close" }),
      ANY,
    ],
    [
      "a wrong chunk size",
      () => ({ raw: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", end: "half-close" }),
      ANY,
    ],
  ]);
}

/** @returns {[string, (form: Form) => any, End][]} */
function answers() {
  const ends = /** @type {[string, object, End][]} */ ([
    ["length", { ending: "length" }, INCOMPLETE],
    ["length and no text", { ending: "length", text: "" }, INCOMPLETE],
    ["length and thinking", { ending: "length", text: "", thinking: WORDS }, INCOMPLETE],
    ["no text", { text: "" }, EMPTY],
    ["blanks", { text: " \n\u00a0" }, EMPTY],
    ["thinking only", { text: "", thinking: WORDS }, EMPTY],
    ["a filter", { ending: "filter" }, REFUSED],
    ["a filter and no text", { ending: "filter", text: "" }, REFUSED],
    ["a refusal", { ending: "refusal", text: "" }, REFUSED],
    ["a tool call", { ending: "tool" }, REFUSED],
    ["a tool call and no text", { ending: "tool", text: "" }, REFUSED],
    ["no end", { ending: "none" }, TRANSIENT],
    ["no end and no text", { ending: "none", text: "" }, TRANSIENT],
    ["an ending that nobody knows", { ending: "banana" }, ANY],
  ]);
  return ends.flatMap(([title, answer, end]) => {
    const given = { text: WORDS, ...answer };
    return /** @type {[string, (form: Form) => any, End][]} */ ([
      [title, () => given, end],
      [`${title}, a byte at a time`, () => ({ ...given, split: 3 }), end],
      [`${title}, in CRLF`, () => ({ ...given, sse: { eol: "\r\n" } }), end],
      [`${title}, as a stream`, ({ api }) => ({ body: sse(eventsOf(api, given)), headers: EVENTS }), end],
      [`${title}, in one piece`, ({ api }) => ({ body: plainOf(api, given) }), end],
    ]);
  });
}

/** @param {any} t @param {Form} form @param {(form: Form) => any} stepOf @param {End} end @param {string} title */
async function assertFault(t, form, stepOf, [code, requests], title) {
  const more = { preparation: PREPARATION, retry: RETRY, summarizer: { idleTimeoutMs: 250 } };
  const outcome = await asked(t, form, [stepOf(form)], more);
  const { error, result } = outcome;
  assert.equal(result, undefined, title);
  assert.equal(error?.name, "CompactionError", `${title}: ${error}`);
  assert.notEqual(error.code, "internal", title);
  if (code) assert.equal(error.code, code, `${title}: ${error.message}`);
  const sent = outcome.requests.length;
  // A connection that was never answered is not always one that was read from.
  if (code && !title.includes('""'))
    assert.equal(sent, requests, `${title}: ${sent} requests, ${error.message}`);
  assert.ok(error.attempts >= 1 && error.attempts <= 3, title);
  if (code === "summary_provider") assert.equal(error.retryable, requests > 1, `${title}: retryable`);
  assert.ok(sent <= 3, `${title}: ${sent} requests`);
  assertSealed(outcome, SEALED, title);
}

const KINDS = { statuses, codes, breaks, silences, malformed, answers };

for (const [kind, list] of Object.entries(KINDS)) {
  for (const form of FORMS) {
    describe(`${kind}: ${form.title}`, { concurrency: 8 }, () => {
      for (const [title, stepOf, end] of list()) test(title, (t) => assertFault(t, form, stepOf, end, title));
    });
  }
}
