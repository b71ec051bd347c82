// The dialogue, act by act. Its edits fit the files of this repository as they were when it was recorded.

import { clippy } from "./acts/clippy.mjs";
import { dump } from "./acts/dump.mjs";
import { flags } from "./acts/flags.mjs";
import { page } from "./acts/page.mjs";
import { protocol } from "./acts/protocol.mjs";
import { testing } from "./acts/testing.mjs";
import { understand } from "./acts/understand.mjs";
import { weigh } from "./acts/weigh.mjs";

/** @type {import("./say.mjs").Line[]} */
export const dialogue = [understand, protocol, weigh, testing, dump, clippy, page, flags].flat();
