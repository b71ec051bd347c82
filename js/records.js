"use strict";

// Kinds, roles and flags of a record: the protocol with src/transcript/part.rs.

const MESSAGE = 0;
const TEXT = 1;
const THINKING = 2;
const IMAGE = 3;
const CALL = 4;
const KEY = 5;
const QUOTED_KEY = 6;
const LITERAL = 7;
const QUOTED = 8;
const UNSERIALIZABLE = 9;
const ARGUMENTS = 10;
const CALL_ID = 11;
const RESULT_ID = 12;
const CAP_UNITS = 13;
const COMMAND = 14;
const OUTPUT = 15;
const EXIT_CODE = 16;
const OUTPUT_PATH = 17;
const SUMMARY = 18;
const NESTED_CALL = 19;

const SHOWN_ONLY = 1 << 6;
const WEIGHED_ONLY = 1 << 7;
const WHOLE = 0xffffff << 8;

const ROLE = 0xf << 8;
const USER = 1 << 8;
const ASSISTANT = 2 << 8;
const TOOL_RESULT = 3 << 8;
const BASH = 4 << 8;
const CUSTOM = 5 << 8;
const BRANCH_SUMMARY = 6 << 8;
const COMPACTION_SUMMARY = 7 << 8;
const SYSTEM = 8 << 8;

const BROKEN = 1 << 12;
const TOOL_USE = 2 << 12;
const EXCLUDED = 1 << 16;
const CANCELLED = 1 << 17;
const TRUNCATED = 1 << 18;
const ERROR = 1 << 19;
const SHOWS_OUTPUT = 1 << 20;

/** How much is gathered; each level includes the one before. */
const Depth = Object.freeze({
  /** Lengths of what is printed; the strings of call arguments go along to be measured. */
  PRINTED: 0,
  /** Also what the raw estimate counts, the ids that pair calls with results, and stop reasons. */
  COUNTED: 1,
  /** All of it, and every string goes along. */
  TEXT: 2,
});

module.exports = Object.freeze({
  Depth,
  MESSAGE,
  TEXT,
  THINKING,
  IMAGE,
  CALL,
  KEY,
  QUOTED_KEY,
  LITERAL,
  QUOTED,
  UNSERIALIZABLE,
  ARGUMENTS,
  CALL_ID,
  RESULT_ID,
  CAP_UNITS,
  COMMAND,
  OUTPUT,
  EXIT_CODE,
  OUTPUT_PATH,
  SUMMARY,
  NESTED_CALL,
  SHOWN_ONLY,
  WEIGHED_ONLY,
  WHOLE,
  ROLE,
  USER,
  ASSISTANT,
  TOOL_RESULT,
  BASH,
  CUSTOM,
  BRANCH_SUMMARY,
  COMPACTION_SUMMARY,
  SYSTEM,
  BROKEN,
  TOOL_USE,
  EXCLUDED,
  CANCELLED,
  TRUNCATED,
  ERROR,
  SHOWS_OUTPUT,
});
