// SPDX-License-Identifier: Apache-2.0
// The types of the package with TypeScript (Debian: node-typescript). Skips loudly where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const { EMBERT_WEB, TSC = "tsc" } = process.env;
const HERE = fileURLToPath(new URL("./types/", import.meta.url));
const skip = spawnSync(TSC, ["--version"]).status === 0 ? false : `SKIPPED: no ${TSC} here`;

test("TypeScript: the package's types are those that its users write, and refuse what they must", { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), "embert-types-"));
  try {
    const installed = join(folder, "node_modules/embert");
    mkdirSync(installed, { recursive: true });
    for (const file of ["embert.js", "embert.d.ts", "package.json"]) copyFileSync(join(EMBERT_WEB, "package", file), join(installed, file));
    copyFileSync(join(HERE, "usage.ts"), join(folder, "usage.ts"));
    writeFileSync(join(folder, "package.json"), '{"type": "module"}');
    const found = spawnSync(TSC, ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext",
      "--lib", "es2022,dom", "usage.ts"], { cwd: folder });
    assert.equal(found.status, 0, String(found.stdout));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// A property that the types leave out, or that the package lacks.
test("the types name every call and every fact of the package", async () => {
  const types = readFileSync(`${EMBERT_WEB}/package/embert.d.ts`, "utf8");
  const { Embert, EmbertWorker } = await import(pathToFileURL(`${EMBERT_WEB}/package/embert.js`));
  const model = await Embert.load(`${EMBERT_WEB}/models/tiny-embed.emb`);
  const worker = types.slice(types.indexOf("export class EmbertWorker"));
  for (const name of Object.getOwnPropertyNames(Embert.prototype)) if (name !== "constructor") assert.match(types, new RegExp(`^  (readonly )?${name}[(:]`, "m"), name);
  for (const name of Object.getOwnPropertyNames(EmbertWorker.prototype)) if (name !== "constructor") assert.match(worker, new RegExp(`^  ${name}\\(`, "m"), name);
  for (const name of Object.keys(model)) assert.match(types, new RegExp(`^  readonly ${name}:`, "m"), name);
});
