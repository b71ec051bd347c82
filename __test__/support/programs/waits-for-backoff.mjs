// Nothing but a run in its delay keeps this process alive.

import { client, failed, prepared, run } from "../model.mjs";

const by = client([failed("503"), "SUMMARY"]);
const retry = { enabled: true, maxRetries: 3, baseDelayMs: 150 };
run(by, prepared([{ role: "user", content: "go" }]), { retry }).then(({ result, calls }) => {
  console.log(`${result.summary} after ${calls.length} requests`);
});
