// Counts a text by every encoding and answers with the counts; with `early` it only says that it has begun.

import { parentPort, workerData } from "node:worker_threads";
import { countTokens } from "../../../index.js";

const { text, encodings, early } = workerData;
const counts = Promise.all(encodings.map((/** @type {any} */ name) => countTokens(text, name)));
parentPort?.postMessage(early ? "begun" : await counts);
