// The package by `import`, with named exports.

import assert from "node:assert";
import { createRequire } from "node:module";
import pi, { estimateTokens } from "pi-compaction-native";

assert.strictEqual(estimateTokens({ role: "user", content: "x".repeat(400) }), 100);
assert.strictEqual(pi.estimateTokens, estimateTokens);
assert.strictEqual(createRequire(import.meta.url)("pi-compaction-native").estimateTokens, estimateTokens);
console.log("imported");
