import assert from "node:assert/strict";
import test from "node:test";
import { estimateTokens, serializeConversation } from "../index.js";
import { DIALECTS, ORACLES } from "./support/oracle.mjs";
import { frozen } from "./support/random.mjs";
import { conversation, tokens } from "./support/reference.mjs";

/** @param {unknown} args */
function call(args) {
  return { role: "assistant", content: [{ type: "toolCall", id: "c1", name: "read", arguments: args }] };
}

const ROLES = ["user", "assistant", "toolResult", "custom", "system"];

for (const dialect of DIALECTS) {
  test(`pi#1816 pi#2694 content null or missing counts 0 and prints nothing (${dialect})`, () => {
    for (const role of ROLES) {
      for (const message of [{ role }, { role, content: null }, { role, content: undefined }]) {
        assert.equal(estimateTokens(frozen(message), { dialect }), 0, role);
        assert.equal(serializeConversation(frozen([message]), { dialect }), "", role);
      }
    }
    for (const role of ["bashExecution", "branchSummary", "compactionSummary"]) {
      assert.equal(estimateTokens(frozen({ role }), { dialect }), 0, role);
      assert.equal(serializeConversation([{ role }], { dialect }), conversation(dialect, [{ role }]));
    }
  });

  test(`gajae-code PR#4633 odd arguments print as pi prints them, nothing where pi throws (${dialect})`, () => {
    for (const args of ["", "null", "path", 7, 0, true, false, [], ["a", 1]]) {
      const message = call(args);
      const theirs = ORACLES[dialect].serializeConversation([message]);
      assert.equal(serializeConversation([message], { dialect }), theirs);
    }
    for (const args of [null, undefined]) {
      assert.equal(serializeConversation([call(args)], { dialect }), "[Assistant tool calls]: read()");
    }
  });

  test(`an argument without JSON text prints the placeholder and spoils nothing else (${dialect})`, () => {
    const cycle = {};
    Object.assign(cycle, { cycle });
    const text = serializeConversation([call({ big: 1n, path: "a.ts", cycle, last: Number.NaN })], {
      dialect,
    });
    const args = 'big=[unserializable], path="a.ts", cycle=[unserializable], last=null';
    assert.equal(text, `[Assistant tool calls]: read(${args})`);
  });

  test(`null blocks and unknown blocks lose nothing beside them (${dialect})`, () => {
    const blocks = [null, { type: "text", text: "before" }, undefined, 4, { type: "new" }];
    for (const role of ["user", "assistant", "toolResult", "custom"]) {
      const message = { role, content: [...blocks, { type: "text", text: "after" }] };
      const text = serializeConversation([message], { dialect });
      assert.match(text, /before\n?after$/, role);
      assert.equal(estimateTokens(message, { dialect }), Math.ceil("beforeafter".length / 4), role);
    }
  });

  test(`pi-better-compaction#6 a system message is no tool result (${dialect})`, () => {
    const message = {
      role: "system",
      content: "rules",
      sections: { tools: "list" },
      toolsAdded: [{ name: "x" }],
    };
    assert.equal(serializeConversation([message], { dialect }), "");
    assert.equal(estimateTokens(message, { dialect }), ORACLES[dialect].estimateTokens(message));
  });

  test(`a symbol where text belongs throws nothing (${dialect})`, () => {
    const odd = Symbol("s");
    const named = { type: "toolCall", id: "c", name: odd, arguments: {} };
    /** @type {any[]} */
    const messages = [
      { role: "user", content: [{ type: "text", text: odd }] },
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: odd }, { type: "text", text: "kept" }, named],
      },
      { role: "bashExecution", command: odd, output: odd, exitCode: odd },
      { role: "branchSummary", summary: odd },
      { role: odd, content: "unknown role" },
    ];
    for (const message of messages) {
      assert.equal(typeof serializeConversation([message], { dialect }), "string");
      assert.ok(Number.isInteger(estimateTokens(message, { dialect })));
    }
  });
}

for (const prototype of [BigInt.prototype, Array.prototype, Date.prototype, Object.prototype]) {
  const name = prototype.constructor.name;
  test(`toJSON on ${name}.prototype prints and counts as in pi`, () => {
    const before = Object.getOwnPropertyDescriptor(prototype, "toJSON");
    const message = call({
      big: 1n,
      list: [1, [2]],
      date: new Date(0),
      text: "t",
      nested: { a: 1n, n: 2 },
      n: 1,
    });
    const results = [];
    const toJSON = () => "from the prototype";
    Object.defineProperty(prototype, "toJSON", { value: toJSON, configurable: true, writable: true });
    try {
      for (const dialect of DIALECTS) {
        results.push([serializeConversation([message], { dialect }), conversation(dialect, [message])]);
        results.push([estimateTokens(message, { dialect }), tokens(dialect, message)]);
      }
    } finally {
      if (before) Object.defineProperty(prototype, "toJSON", before);
      else Reflect.deleteProperty(prototype, "toJSON");
    }
    for (const [ours, theirs] of results) assert.equal(ours, theirs);
  });
}

test("a host's toJSON may call this package again", () => {
  const inner = [{ role: "user", content: "inner" }];
  const args = { value: { toJSON: () => serializeConversation(inner) }, after: "x" };
  const text = serializeConversation([{ role: "user", content: "outer" }, call(args)]);
  assert.equal(text, '[User]: outer\n\n[Assistant tool calls]: read(value="[User]: inner", after="x")');
});
