// `/compact-model` where pi draws no terminal: a plain selection by the host, and what is written.

import assert from "node:assert/strict";
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import test, { before } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { guestOf } from "./support/pi-guest.mjs";
import { EXTENSION, SMALL } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";

const VIRTUAL = fileURLToPath(new URL("./support/extensions/virtual-model.ts", import.meta.url));

inEachPi((host, scope) => {
  /** @type {import("./support/pi-guest.mjs").Guest} */
  let guest;
  before(async () => {
    const extensions = host.version === "1.6.0" ? [VIRTUAL, EXTENSION] : [EXTENSION];
    guest = await guestOf(scope, host, {}, { extensions });
  });

  /** What is asked of the person, answered, and what is told then. @param {object} answer */
  async function picked(answer) {
    const { pi } = guest;
    const heard = pi.lines.length;
    const running = pi.ask({ type: "prompt", message: "/compact-model" });
    const asked = await pi.next(({ method }) => method === "select", "the selection", heard);
    pi.write({ type: "extension_ui_response", id: asked.id, ...answer });
    await running;
    return { asked, told: await toldSince(heard) };
  }

  /** What was told until pi answered another command: commands are answered in turn. @param {number} heard */
  async function toldSince(heard) {
    const { pi } = guest;
    await pi.ask({ type: "get_state" });
    return pi.lines.slice(heard).filter(({ method }) => method === "notify");
  }

  const written = () => JSON.parse(readFileSync(guest.home.settings, "utf8"));

  test("D116 off, the chat's model and pi's models are offered; the choice is written", async () => {
    guest.home.choose(undefined);
    const { asked, told } = await picked({ value: SMALL });
    assert.deepEqual(asked.options, ["off", "session", "fake/chat", "fake/small"], "D11 no virtual model");
    assert.match(asked.title, /Now: off$/);
    assert.deepEqual(written(), { model: SMALL });
    assert.deepEqual(
      told.map(({ notifyType, message }) => [notifyType, message]),
      [["info", `refine-compact: ${SMALL} from the next compaction on (pi-compaction-native.json)`]],
    );
    const next = await picked({ value: "session" });
    assert.match(next.asked.title, /Now: fake\/small$/);
    assert.deepEqual(written(), { model: "session" });
  });

  test("off is null, and other settings stay as they are", async () => {
    guest.home.choose({ charsPerToken: 4, model: SMALL, maxPromptTokens: -1, mine: [1] });
    await picked({ value: "off" });
    assert.deepEqual(written(), { charsPerToken: 4, model: null, maxPromptTokens: -1, mine: [1] });
    assert.deepEqual(
      readdirSync(guest.home.agent).filter((name) => name.endsWith(".tmp")),
      [],
    );
  });

  test("who leaves the picker changes nothing", async () => {
    guest.home.choose({ model: SMALL });
    const { told } = await picked({ cancelled: true });
    assert.deepEqual(written(), { model: SMALL });
    assert.deepEqual(told, []);
  });

  test("a file that cannot be read is not written over", async () => {
    guest.home.choose('{"model": "fake/chat",}');
    const heard = guest.pi.lines.length;
    await guest.pi.ask({ type: "prompt", message: "/compact-model" });
    const [{ message, notifyType }, ...more] = await toldSince(heard);
    assert.deepEqual([more, notifyType], [[], "error"]);
    assert.match(message, /^refine-compact: pi-compaction-native\.json is not valid JSON/);
    assert.equal(readFileSync(guest.home.settings, "utf8"), '{"model": "fake/chat",}');
  });

  test("a link stays a link", {
    skip: process.platform === "win32" && "links need rights there",
  }, async () => {
    const { home } = guest;
    home.choose({ model: null });
    const target = join(home.folder, "dotfiles.json");
    renameSync(home.settings, target);
    symlinkSync(target, home.settings);
    await picked({ value: SMALL });
    assert.ok(lstatSync(home.settings).isSymbolicLink());
    assert.deepEqual(JSON.parse(readFileSync(target, "utf8")), { model: SMALL });
    rmSync(target);
    await picked({ value: "session" });
    assert.ok(lstatSync(home.settings).isSymbolicLink(), "one that leads nowhere yet too");
    assert.deepEqual(JSON.parse(readFileSync(target, "utf8")), { model: "session" });
  });

  test("a choice that is made after pi has left the session", async () => {
    const { home, pi } = guest;
    home.choose(undefined);
    const heard = pi.lines.length;
    pi.ask({ type: "prompt", message: "/compact-model" }).catch(() => {});
    const asked = await pi.next(({ method }) => method === "select", "the selection", heard);
    await pi.ask({ type: "switch_session", sessionPath: home.session() });
    pi.write({ type: "extension_ui_response", id: asked.id, value: SMALL });
    await pi.ask({ type: "get_state" });
    assert.deepEqual(
      pi.lines.slice(heard).filter(({ type }) => type === "extension_error"),
      [],
    );
    // The answer is a line of its own, and nothing tells when it was heard.
    for (let tries = 0; tries < 200 && !existsSync(home.settings); tries++) await wait(25);
    assert.deepEqual(written(), { model: SMALL });
  });

  test("the choice holds from the next compaction on", async () => {
    const { home, pi } = guest;
    const { seen } = await guest.visit({ chosen: { model: null } });
    await picked({ value: SMALL });
    assert.equal((await pi.ask({ type: "compact" })).success, true);
    assert.equal(seen().checkpoints[0].details.refineCompactModel, SMALL);
    assert.deepEqual(home.server.faults, []);
  });
});
