// Before `npm pack` in a folder of `npm`: the binary that was built goes into it. `npm run pack` needs none of this.

import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "./run.mjs";

const { main } = JSON.parse(readFileSync("package.json", "utf8"));
if (!existsSync(join(root, main))) throw new Error(`there is no ${main}: npm run build`);
copyFileSync(join(root, main), main);
