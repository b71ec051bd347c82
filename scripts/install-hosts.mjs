// Installs the versions of pi that the extension is tested in.

import { installHosts, run } from "./run.mjs";

run(installHosts);
