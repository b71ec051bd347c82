// What a person sees in pi's terminal: the picker, the ledger, a failure.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test, { before } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { EXTENSION, environmentOf, homeOf, MODELS, SMALL } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";
import { flagsOf } from "./support/pi-rpc.mjs";
import { missing, Terminal } from "./support/tmux.mjs";

const LONG_ID = "gateway/of-a-vendor/a-model-with-a-long-name-large";
/** More than a screen holds. */
const MANY = Array.from({ length: 40 }, (_, index) => ({
  id: `${LONG_ID}-${index}`,
  name: `Filler ${index}`,
}));
/** Longer than a line, of two columns a character, and of more than one line. */
const ODD = [{ id: "x".repeat(500) }, { id: "\u6A21".repeat(90) }, { id: "two\nlines", name: "of\ttwo" }];
const TITLE = "Who writes compactions?";
const ROWS = 24;
/** Times that Enter is pressed, and looks at the screen after each. */
const PRESSES = 5;
const LOOKS = 40;
const MS_BETWEEN_LOOKS = 250;
/** Looks in a row without the command, after which it was taken. */
const GONE = 3;

/** @param {string | RegExp} wanted */
const has = (wanted) => (/** @type {string[]} */ screen) =>
  screen.some((line) => (typeof wanted === "string" ? line.includes(wanted) : wanted.test(line)));

inEachPi((host, scope) => {
  /** @type {import("./support/pi-home.mjs").Home} */
  let home;
  /** @type {Terminal} */
  let terminal;
  before(async () => {
    home = await homeOf(scope, { models: [...MODELS, ...MANY, ...ODD] });
    const command = [host.node, host.cli, ...flagsOf(home.session(), [EXTENSION])];
    const env = environmentOf(home);
    terminal = await Terminal.open(scope, { command, cwd: home.cwd, env, columns: 100, rows: ROWS });
    await terminal.sees(has(/\bchat$/), "pi's last line");
  });

  /** The blank at the end closes pi's completion, which would take the Enter. @param {string} command */
  async function enter(command) {
    await terminal.type(`${command} `);
    await terminal.sees(has(command), command);
    const stands = (/** @type {string[]} */ now) => now.some((line) => line.trim() === command);
    for (let tries = 0; tries < PRESSES; tries++) {
      await terminal.press("Enter");
      // A list of completions that is still being made takes one. Pressed again too soon, it would answer what the
      // first has opened; and a screen that is half drawn shows no command.
      for (let look = 0, gone = 0; look < LOOKS; look++) {
        await wait(MS_BETWEEN_LOOKS);
        gone = stands(await terminal.screen()) ? 0 : gone + 1;
        if (gone === GONE) return;
      }
    }
  }

  const written = () => JSON.parse(readFileSync(home.settings, "utf8"));

  test("D115 D117 a list with a fuzzy filter, which fits the screen", async () => {
    home.choose({ model: "session" });
    await enter("/compact-model");
    const screen = await terminal.sees(has("→ session"), "the choice as it is");
    const top = screen.findIndex((line) => line.includes(TITLE));
    assert.ok(top > 0, "D117 compact: something of the session is still seen");
    assert.ok(has("(2/47)")(screen), screen.join("\n"));
    assert.ok(has(`${LONG_ID}-0 `)(screen), "an id is seen to its end");
    await terminal.type("smll");
    const filtered = await terminal.sees(
      (now) => has(`→ ${SMALL}`)(now) && !has("the chat's model")(now),
      "the filtered list",
    );
    assert.ok(!has("Filler")(filtered));
    await terminal.press("Enter");
    await terminal.sees(has(`refine-compact: ${SMALL} from the next compaction on`), "what was chosen");
    assert.deepEqual(written(), { model: SMALL });
  });

  test("D117 it fits a screen that is made small, and one as narrow", async () => {
    await enter("/compact-model");
    await terminal.sees(has(`→ ${SMALL}`), "the choice as it is");
    await terminal.resize(36, 10);
    const fits = (/** @type {string[]} */ now) =>
      has(TITLE)(now) && has(`→ ${SMALL}`)(now) && has("(4/47)")(now);
    await terminal.sees(fits, "title, choice and place in the small screen");
    await terminal.press("Down");
    await terminal.sees(has("→ fake/gateway"), "the next");
    await terminal.press("Escape");
    await terminal.sees((now) => !has(TITLE)(now), "the end of the picker");
    assert.deepEqual(written(), { model: SMALL }, "Escape changes nothing");
    await terminal.resize(100, ROWS);
  });

  test("D117 names that do not fit a line", async () => {
    await enter("/compact-model");
    await terminal.sees(has(`→ ${SMALL}`), "the choice as it is");
    for (let up = 0; up < 4; up += 1) await terminal.press("Up");
    const screen = await terminal.sees(has(/→ fake\/two.lines/), "the last, on one line");
    const end = screen.findIndex((line) => line.includes("(47/47)"));
    const [long, wide, broken] = screen.slice(end - 3, end);
    assert.match(long, /^ {2}fake\/x{20,}/, "on one line");
    assert.match(wide, /^ {2}fake\/\u6A21{10,}/, "on one line");
    assert.match(broken, /^→ fake\/two.lines/);
    await terminal.press("Escape");
    await terminal.sees((now) => !has(TITLE)(now), "the end of the picker");
  });

  test("a name that no model has", async () => {
    await enter("/compact-model");
    await terminal.sees(has(TITLE), "the picker");
    await terminal.type("zzzz");
    await terminal.sees(has("no model is called so"), "that nothing is found");
    await terminal.press("Enter");
    await terminal.press("Escape");
    await terminal.sees((now) => !has(TITLE)(now), "the end of the picker");
  });

  test("a failure stands on the screen with its code", async () => {
    home.script([{ status: 401, body: { error: { message: "no" } } }]);
    await enter("/compact");
    const screen = await terminal.sees(has("wrote no checkpoint (summary_provider):"), "the error");
    assert.ok(!has("Compacted from")(screen));
  });

  test("D109 the ledger is drawn in the transcript", async () => {
    home.script(["SUMMARY"]);
    await enter("/compact");
    const screen = await terminal.sees(has("Compacted from"), "the end of the compaction");
    if (host.version === "0.74.2") return; // which draws no entries of extensions
    assert.ok(has(/^ done: \d+ chunks?, 0 splits, 0 compressions, \d+\.\d s/)(screen), screen.join("\n"));
    assert.ok(has(/^ chunk (\d+)\/\1 \(100 %\): summary of 3 tokens/)(screen), screen.join("\n"));
  });
}, missing);
