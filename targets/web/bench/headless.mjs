// SPDX-License-Identifier: Apache-2.0
// Shows a page in headless Chromium (CHROMIUM names the program; default chromium), for tests and bench.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const { CHROMIUM = "chromium" } = process.env;
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };

/** The browser's name and version; null without one. */
export function chromiumVersion() {
  const { status, stdout } = spawnSync(CHROMIUM, ["--version"]);
  return status === 0 ? stdout.toString().trim() : null;
}

/** Serves on this machine alone and shows `path` until the promise `ended` is settled; resolves as it does. answer(url, sent)
 * gives the body for what the page asks for, sent is what it posts; a file that is not there becomes status 404. */
export async function showPage(path, answer, ended) {
  const server = createServer(async (request, response) => {
    let sent = "";
    for await (const part of request.setEncoding("utf8")) sent += part;
    try {
      const body = answer(request.url, sent);
      response.setHeader("Content-Type", TYPES[extname(request.url)] ?? "application/octet-stream");
      response.end(body);
    } catch (error) {
      if (error.code === undefined) throw error;
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(tmpdir(), "embert-browser-"));
  const browser = spawn(CHROMIUM, ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`,
    `http://127.0.0.1:${server.address().port}/${path}`], { stdio: "ignore" });
  try {
    return await ended;
  } finally {
    const gone = new Promise((resolve) => browser.once("exit", resolve));
    browser.kill();
    await gone;
    server.closeAllConnections?.();
    server.close();
    // The browser's child processes write into the profile a little longer than it lives. maxRetries of rmSync only tries to
    // remove the folder again, not the files that are new in it.
    for (let tries = 1; existsSync(profile); ++tries) {
      try {
        rmSync(profile, { recursive: true });
      } catch (error) {
        if (tries === 20) throw error;
        await sleep(50 * tries);
      }
    }
  }
}
