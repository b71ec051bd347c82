// Projects of users: the package is installed in them, and the clone lies beside them.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
export const TOOLS = fileURLToPath(new URL("../tools/node_modules/", import.meta.url));

/** The package as it is installed, its binary in it. @param {string} to */
export function copyPackage(to) {
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const binaries = readdirSync(root).filter((name) => name.endsWith(".node"));
  mkdirSync(to, { recursive: true });
  for (const name of ["package.json", ...files, ...binaries]) {
    cpSync(join(root, name), join(to, name), { recursive: true });
  }
}

/**
 * @param {Record<string, string>} commands what npx finds there besides esbuild: a name and its file
 * @returns {{ folder: string, remove: () => void }} `folder`: the project's, alone with the clone in the one above
 */
export function project(commands = {}) {
  const above = mkdtempSync(join(tmpdir(), "projects-"));
  symlinkSync(root, join(above, "pi-compaction-native"), "dir");
  const folder = join(above, "ein Projekt 測試");
  copyPackage(join(folder, "node_modules", "pi-compaction-native"));
  const bin = join(folder, "node_modules", ".bin");
  mkdirSync(bin);
  for (const [name, file] of Object.entries({ esbuild: join(TOOLS, ".bin", "esbuild"), ...commands })) {
    symlinkSync(file, join(bin, name));
  }
  return { folder, remove: () => rmSync(above, { recursive: true, force: true }) };
}
