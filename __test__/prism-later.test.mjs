// What a later compaction of Prism's default strategy makes of an earlier one.

import assert from "node:assert/strict";
import test from "node:test";
import { branch, compacted, entry, said, talk } from "./support/entries.mjs";

test("a later compaction carries the summary on and adds what it does not cover", async () => {
  const entries = [...talk(6), entry("label", "e5", { kind: "label", label: "between" })];
  const first = await compacted(entries, { keepRecentEntries: 2 });
  const next = [...entries, ...first.made, entry("e6", first.made[0].id, said("user", "text 6"))];
  const second = await compacted(next, { keepRecentEntries: 1 });
  assert.deepEqual(second.lines, [
    ...["user: text 0", "assistant: text 1", "user: text 2", "assistant: text 3"],
    ...["user: text 4", "assistant: text 5", "label: between"],
  ]);
  assert.deepEqual([second.data.throughEntryId, second.data.keepEntryIds], [first.made[0].id, ["e6"]]);
});

test("of an earlier summary each line stays as it is, indented and blank ones too", async () => {
  const summary = "# Goal\n\n- a\n  - nested\n\n## Next";
  const other = entry("c", "e1", { kind: "compaction", summary, data: { throughEntryId: "e1" } });
  const said2 = entry("e2", "c", said("user", "text 2"));
  const { summary: next } = await compacted([...talk(2), other, said2], { keepRecentEntries: 0 });
  assert.equal(next, `${summary}\nuser: text 2`);
});

test("E59 E60 what an earlier compaction covered is not told anew, whatever else than messages it kept", async () => {
  const data = { throughEntryId: "l", keepEntryIds: ["e0", "s", "l"] };
  const entries = [
    ...talk(1),
    entry("s", "e0", { kind: "summary", summary: "covered" }),
    entry("l", "s", { kind: "label", label: "covered" }),
    entry("c", "l", { kind: "compaction", summary: "summary: covered\nlabel: covered", data }),
  ];
  const { lines } = await compacted(entries, { keepRecentEntries: 0 });
  assert.deepEqual(lines, ["summary: covered", "label: covered", "user: text 0"]);
});

test("a compaction brings nothing back that an earlier one took out", async () => {
  const entries = talk(10);
  const first = await compacted(entries, { keepRecentEntries: 2 });
  const second = await compacted([...entries, ...first.made], { keepRecentEntries: 8 });
  assert.deepEqual(second.data.keepEntryIds, ["e8", "e9"]);
  assert.equal(second.summary, first.summary);
  assert.equal(second.data.throughEntryId, "e7", "nothing that was covered is covered anew");
});

test("nor where another strategy kept a message from amid what it covered", async () => {
  const data = { throughEntryId: "e3", keepEntryIds: ["e1"] };
  const other = entry("c", "e5", { kind: "compaction", summary: "user: text 0", data });
  const entries = [...talk(6), other, entry("e6", "c", said("user", "text 6"))];
  const all = await compacted(entries);
  assert.deepEqual(all.data.keepEntryIds, ["e1", "e4", "e5", "e6"]);
  assert.equal(all.data.throughEntryId, "e3");
  const some = await compacted(entries, { keepRecentEntries: 2 });
  assert.deepEqual(some.lines, ["user: text 0", "assistant: text 1", "user: text 4"]);
  assert.deepEqual([some.data.throughEntryId, some.data.keepEntryIds], ["e4", ["e5", "e6"]]);
});

test("where nothing older has words the summary says so, too", async () => {
  for (const text of ["", " \n", "\u0085", "\u2028\u0085", "\ufeff"]) {
    const { summary } = await compacted(branch([said("user", text)]), { keepRecentEntries: 0 });
    assert.match(summary, /^Nothing is older/, JSON.stringify(text));
  }
});

test("where nothing is older the summary says so once, and later ones do not", async () => {
  const entries = talk(3);
  const first = await compacted(entries);
  assert.match(first.summary, /^Nothing is older/);
  assert.deepEqual(first.data, {
    keepEntryIds: ["e0", "e1", "e2"],
    strategy: "default-compaction",
    trigger: "manual",
  });
  const next = [...entries, ...first.made, ...branch([said("user", "x")], "f")].map((known, at, all) =>
    at === 0 ? known : { ...known, parentId: all[at - 1].id },
  );
  assert.deepEqual((await compacted(next, { keepRecentEntries: 1 })).lines, [
    "user: text 0",
    "assistant: text 1",
    "user: text 2",
  ]);
  assert.match((await compacted([])).summary, /^Nothing is older/);
});
