// One fresh process: prints the milliseconds that loading the addon takes.

import { loadOurs } from "./sides.mjs";
import { timed } from "./timing.mjs";

console.log(await timed(loadOurs, 1));
