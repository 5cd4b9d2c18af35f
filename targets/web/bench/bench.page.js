// SPDX-License-Identifier: Apache-2.0
// bench.js in a page: shows its lines, and sends them to the server of bench.mjs.
import { bench } from "./bench.js";

const send = (body) => fetch("/lines", { method: "POST", body });
const print = (line) => {
  document.getElementById("lines").textContent += `${line}\n`;
  return send(line);
};
const models = await (await fetch("/models.json")).json();
await bench(models, print).catch((error) => print(String(error)));
await send("");
