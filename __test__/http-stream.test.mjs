// A stream is read the same, however its bytes arrive.

import assert from "node:assert/strict";
import test from "node:test";
import { asked, assertTransient, inEachFormat } from "./support/http.mjs";
import { random } from "./support/random.mjs";
import { sse } from "./support/wire.mjs";
import { eventsOf } from "./support/wire-answers.mjs";

const WORDS = 'Ünï 😀 cöde\u2028 "q" \\n end';

/** The summary of a stream of these bytes. @param {any} t @param {any} api @param {any} step */
async function read(t, api, step) {
  const { result, error, requests } = await asked(t, { api }, [step]);
  assert.equal(error, undefined, `${error?.message}`);
  assert.equal(requests.length, 1);
  return result.summary;
}

inEachFormat("lines end in LF, CRLF or CR", async (t, api) => {
  for (const eol of ["\n", "\r\n", "\r"]) {
    assert.equal(await read(t, api, { text: WORDS, sse: { eol } }), WORDS, JSON.stringify(eol));
    assert.equal(
      await read(t, api, { text: WORDS, sse: { eol }, split: 1 }),
      WORDS,
      `${JSON.stringify(eol)} by bytes`,
    );
  }
});

inEachFormat("one byte at a time, and cut at places by chance", async (t, api) => {
  const body = Buffer.from(sse(eventsOf(api, { text: WORDS })));
  assert.equal(await read(t, api, { body, as: "stream", split: 1 }), WORDS);
  const rng = random(7);
  for (let round = 0; round < 5; round++) {
    const cuts = rng.list(1, 12, () => rng.between(1, body.length - 1)).sort((a, b) => a - b);
    const headers = { "content-type": "text/event-stream" };
    assert.equal(await read(t, api, { body, headers, split: cuts, pauseMs: 1 }), WORDS, cuts.join());
  }
});

inEachFormat("a cut inside a character, between CR and LF, inside a field's name", async (t, api) => {
  const text = sse(eventsOf(api, { text: WORDS }), { eol: "\r\n" });
  const body = Buffer.from(text);
  const headers = { "content-type": "text/event-stream" };
  const at = (/** @type {string} */ needle, /** @type {number} */ into) =>
    body.indexOf(Buffer.from(needle)) + into;
  for (const split of [
    [at("😀", 1)],
    [at("😀", 2)],
    [at("😀", 3)],
    [at("\r\n", 1)],
    [at("\r\n\r\n", 2)],
    [at("\r\n\r\n", 3)],
    [2],
  ]) {
    assert.equal(await read(t, api, { body, headers, split, pauseMs: 5 }), WORDS, split.join());
  }
});

inEachFormat("comments and keep-alives by the thousand", async (t, api) => {
  const events = eventsOf(api, { text: WORDS });
  const noise = [
    ": keep-alive\n\n",
    ":\n",
    ":\n\n",
    "\n",
    "event: ping\n\n",
    "id: 7\n",
    "retry: 10000\n\n",
    ': data: {"error":1}\n',
  ];
  const pieces = events.map((event) => noise.join("").repeat(500) + sse([event]));
  const headers = { "content-type": "text/event-stream" };
  assert.equal(await read(t, api, { body: pieces.join("") + ": bye\n\n".repeat(1_000), headers }), WORDS);
});

inEachFormat(
  "no space after a colon, no event names, a byte order mark, no last blank line",
  async (t, api) => {
    const events = eventsOf(api, { text: WORDS });
    const headers = { "content-type": "text/event-stream" };
    assert.equal(await read(t, api, { text: WORDS, sse: { space: false } }), WORDS);
    assert.equal(await read(t, api, { text: WORDS, sse: { names: false } }), WORDS, "no names");
    assert.equal(await read(t, api, { body: `\ufeff${sse(events)}`, headers }), WORDS, "byte order mark");
    const unnamed = api === "openai-completions" ? events.slice(0, -1) : events;
    for (const list of [events, unnamed]) {
      assert.equal(await read(t, api, { body: sse(list, { last: false }), headers }), WORDS, "no blank line");
      assert.equal(
        await read(t, api, { body: `${sse(list, { last: false })}\n`, headers }),
        WORDS,
        "one line end",
      );
    }
  },
);

inEachFormat("JSON over several data lines, other fields between, is one event", async (t, api) => {
  const spread = eventsOf(api, { text: WORDS }).map(({ event, data }) => ({
    event,
    data: typeof data === "string" ? data : JSON.stringify(data, null, 1),
  }));
  const headers = { "content-type": "text/event-stream" };
  assert.equal(await read(t, api, { body: sse(spread), headers }), WORDS);
  const mixed = sse(eventsOf(api, { text: WORDS })).replaceAll(
    "data: {",
    "id: 1\nunknown: x\nnocolon\ndata: {",
  );
  assert.equal(await read(t, api, { body: mixed, headers }), WORDS);
});

inEachFormat("one very large event", async (t, api) => {
  const text = `${"😀a\\".repeat(500_000)}.`;
  assert.equal(await read(t, api, { pieces: [text] }), text);
});

inEachFormat("events of kinds that nobody knows are passed over", async (t, api) => {
  const odd = [
    { event: "something.new", data: { type: "something.new", value: [1, null, { text: "NOT THIS" }] } },
    { event: "ping", data: { type: "ping" } },
    { data: {} },
  ];
  const events = eventsOf(api, { text: WORDS }).flatMap((event) => [...odd, event]);
  const headers = { "content-type": "text/event-stream" };
  assert.equal(await read(t, api, { body: sse(events), headers }), WORDS);
});

inEachFormat("what stands behind the end is not waited for", async (t, api) => {
  const step = { text: WORDS, end: /** @type {const} */ ("silent") };
  assert.equal(await read(t, api, step), WORDS);
});

inEachFormat("an answer that has ended stands, though its connection breaks afterwards", async (t, api) => {
  for (const end of /** @type {const} */ (["half-close", "destroy", "reset"])) {
    const { result, error } = await asked(t, { api }, [{ text: WORDS, end, pauseMs: 30 }, "SECOND"]);
    assert.equal(error, undefined);
    assert.equal(result.summary, WORDS, end);
  }
});

inEachFormat("pi#6647 cut anywhere it is transient, and what came before is no summary", async (t, api) => {
  const body = Buffer.from(sse(eventsOf(api, { text: WORDS })));
  const terminal = sse(eventsOf(api, { text: WORDS, ending: "none" })).length;
  for (const at of [1, 40, Math.floor(terminal / 2), terminal - 1]) {
    for (const end of /** @type {const} */ (["normal", "half-close", "reset"])) {
      const step = {
        body,
        at,
        end,
        as: /** @type {const} */ ("stream"),
        headers: { "content-type": "text/event-stream" },
      };
      const { result, requests } = await asked(t, { api }, [step, "WHOLE"]);
      assert.equal(result?.summary, "WHOLE", `${at} ${end}`);
      assert.equal(requests.length, 2);
    }
  }
});

inEachFormat("JSON garbage inside a stream is transient", async (t, api) => {
  const headers = { "content-type": "text/event-stream" };
  const [first, ...rest] = eventsOf(api).map((event) => sse([event]));
  for (const garbage of ['data: {"a":\n\n', "data: <html>\n\n", "data: }{\n\n"]) {
    const body = first + garbage + rest.join("");
    assertTransient(await asked(t, { api }, [{ body, headers }]), { says: garbage });
  }
});

test("bytes that are no UTF-8 hang and throw nothing unknown", async (t) => {
  const body = Buffer.concat([
    Buffer.from("data: "),
    Buffer.from([0xff, 0xfe, 0xc3, 0x28]),
    Buffer.from("\n\n"),
  ]);
  const headers = { "content-type": "text/event-stream" };
  assertTransient(await asked(t, { api: "openai-completions" }, [{ body, headers }]));
});

test("supportsFinishReason: false makes [DONE] the end", async (t) => {
  const api = /** @type {const} */ ("openai-completions");
  const model = { compat: { supportsFinishReason: false } };
  const headers = { "content-type": "text/event-stream" };
  const events = eventsOf(api, { ending: "none", text: WORDS });
  const ended = { body: sse([...events, { data: "[DONE]" }]), headers };
  const { result } = await asked(t, { api }, [ended], { model });
  assert.equal(result?.summary, WORDS);
  assertTransient(await asked(t, { api }, [{ body: sse(events), headers }], { model }));
  assertTransient(await asked(t, { api }, [ended]), { says: "not so by default" });
  const usual = await asked(t, { api }, [{ text: WORDS }], { model });
  assert.equal(usual.result?.summary, WORDS, "a reason that comes all the same is read");
});

test("[DONE] is no end where a reason is due, and blanks around it are nothing", async (t) => {
  const api = /** @type {const} */ ("openai-completions");
  const headers = { "content-type": "text/event-stream" };
  const body = sse(eventsOf(api, { text: WORDS })).replace("[DONE]", " [DONE] ");
  assert.equal(await read(t, api, { body, headers }), WORDS);
});

test("usage is read from behind the finish reason", async (t) => {
  const { result } = await asked(t, { api: "openai-completions" }, [{ text: WORDS, split: 9 }]);
  assert.equal(result.usage?.totalTokens, 120);
});
