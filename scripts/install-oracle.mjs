// Installs pi's own packages, which most tests compare with.

import { installOracle, run } from "./run.mjs";

run([installOracle]);
