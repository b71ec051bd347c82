"use strict";

// What Prism's names are given, checked.

const { count, optional } = require("../arguments.js");
const { invalidArgument } = require("../errors.js");
const { isWait } = require("../retry-after.js");

/** @param {any} secrets @param {string} name @returns {string[]} those that are there */
function secretsOf(secrets, name) {
  if (secrets === undefined || secrets === null) return [];
  const list = Array.isArray(secrets) ? Array.from(secrets) : [secrets];
  const given = list.filter((secret) => secret !== undefined && secret !== null);
  if (!Array.isArray(secrets) || given.some((secret) => typeof secret !== "string")) {
    throw invalidArgument(name, "an array of strings");
  }
  return given;
}

/** What a host says of itself to itself. @param {any} value @param {string} name */
function metadataOf(value, name) {
  const metadata = optional(value, name);
  return metadata === undefined ? {} : { metadata };
}

/** @param {any} value @param {string} name @param {number} missing @returns {number} */
function countOr(value, name, missing) {
  return value === undefined || value === null ? missing : count(value, name);
}

/** @param {any} value @param {string} name @returns {number} */
function wait(value, name) {
  if (!isWait(value)) throw invalidArgument(name, "a finite number from 0");
  return value;
}

module.exports = { countOr, metadataOf, secretsOf, wait };
