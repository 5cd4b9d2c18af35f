// SPDX-License-Identifier: Apache-2.0

/** Returns a function that runs `task` with its last arguments: while one run is under way, later
 * calls replace each other, so that typing fast leaves no queue. It fails if
 * the last of the runs does. */
export function latest(task) {
  let running = false;
  let next = null;
  return async function run(...values) {
    next = values;
    if (running) return;
    running = true;
    let failure = null;
    while (next !== null) {
      const current = next;
      next = null;
      failure = null;
      await task(...current).catch((error) => { failure = error; });
    }
    running = false;
    if (failure !== null) throw failure;
  };
}
