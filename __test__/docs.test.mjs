// What a reader copies out of the documentation works.
//
// `<!-- run: NAME -->` right before a fence names its setup, `support/snippets/NAME.mjs`: what that exports by name is
// a variable of the snippet, and its default export prepares the folder, the environment, a model server.
// `<!-- not run: WHY -->` is for what cannot run here. A fence of `text` is no snippet.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { LANGUAGES, runSnippet, snippetsOf } from "./support/snippets.mjs";

const ROOT = new URL("../", import.meta.url);
/** Of these every line is a check of its own. */
const NO_PROSE = new Set(["requirements.md"]);

const documents = readdirSync(new URL("docs/", ROOT)).filter(
  (name) => name.endsWith(".md") && !NO_PROSE.has(name),
);
const files = ["README.md", "CONTRIBUTING.md", ...documents.map((name) => `docs/${name}`)];

for (const file of files) {
  for (const snippet of snippetsOf(file, readFileSync(new URL(file, ROOT), "utf8"))) {
    const { line, language, notRun, setup } = snippet;
    if (language === "text") continue;
    const title = `${file}:${line} ${language}${setup ? ` (${setup})` : ""}`;
    test(title, { skip: notRun ?? false }, async (t) => {
      assert.ok(LANGUAGES.includes(language), `a snippet of "${language}" cannot be run: say why it is not`);
      await runSnippet(t, snippet);
    });
  }
}

/** Where the links of a text lead that are no addresses. @param {string} text */
const linksOf = (text) =>
  [...text.replace(/^ *```[\s\S]*?^ *```$/gm, "").matchAll(/\]\((?!\w+:)([^)#]+)/g)].map(([, path]) => path);

test("every link of the documentation leads to a file", () => {
  for (const file of [...files, "ARCHITECTURE.md", "CHANGELOG.md"]) {
    const at = new URL(file, ROOT);
    for (const path of linksOf(readFileSync(at, "utf8"))) {
      assert.ok(existsSync(new URL(path, at)), `${file}: ${path}`);
    }
  }
});

test("the snippets are found, with what stands right before them and how they are indented", () => {
  const text = [
    "<!-- run: model -->",
    "```js",
    "one();",
    "```",
    "",
    "- In a list:",
    "  <!-- not run: needs a window -->",
    "  ```sh",
    "  two",
    "    three",
    "  ```",
    "```json",
    "{}",
    "```",
  ].join("\n");
  assert.deepEqual(snippetsOf("a.md", text), [
    { file: "a.md", line: 2, language: "js", text: "one();\n", setup: "model" },
    { file: "a.md", line: 8, language: "sh", text: "two\n  three\n", notRun: "needs a window" },
    { file: "a.md", line: 12, language: "json", text: "{}\n" },
  ]);
});

const BROKEN = {
  js: [
    'import { nothing } from "pi-compaction-native";',
    "throw new Error('x');",
    "await new Promise(() => {});",
  ],
  cjs: ['require("pi-compaction-native/nothing");'],
  ts: ['import { findCut } from "pi-compaction-native";\nfindCut("no list", 5);', "null!.x;"],
  sh: ["false; true", "pi-compaction inspect nothing.jsonl"],
  json: ["{ a: 1 }"],
};

for (const [language, texts] of Object.entries(BROKEN)) {
  test(`a broken snippet of ${language} fails`, async (t) => {
    for (const text of texts) {
      await assert.rejects(runSnippet(t, { file: "a.md", line: 1, language, text }), text);
    }
  });
}
