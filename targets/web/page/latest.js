// SPDX-License-Identifier: Apache-2.0

/** Returns a function that runs `task` with its last arguments: while one run is under way, later
 * calls replace each other, so that typing fast leaves no queue. A run that fails ends; the next
 * call begins another. */
export function latest(task) {
  let running = false;
  let next = null;
  return async function run(...values) {
    next = values;
    if (running) return;
    running = true;
    try {
      while (next !== null) {
        const current = next;
        next = null;
        await task(...current);
      }
    } finally {
      running = false;
    }
  };
}
