// Rows of the bench: both sides of each can be asked, and answer alike.

import { test } from "node:test";

import { rows } from "../benches/support/rows.mjs";
import { readSession } from "../benches/support/sessions.mjs";
import { loadOurs, loadPi } from "../benches/support/sides.mjs";

for (const row of rows) {
  test(`${row.name}: both sides answer alike`, { timeout: 120_000 }, async () => {
    const data = await row.prepare(readSession("sample"));
    const [ours, pi] = [loadOurs(), await (row.against ?? loadPi)()];
    await row.assertEqual(ours, pi, data);
    await row.ours(ours, data);
    await row.pi(pi, data);
    await row.pure?.(data);
  });
}
