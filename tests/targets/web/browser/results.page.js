// SPDX-License-Identifier: Apache-2.0
// Sends browser.test.mjs the results that the page shows when it is ready.
const textOf = (id) => document.getElementById(id).textContent;
const until = async (isThere) => {
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 50));
};

// Addresses that the page's security policy refused.
const refused = [];
document.addEventListener("securitypolicyviolation", (event) => refused.push(event.blockedURI));

await until(() => textOf("bits-result") !== "" && textOf("bits-checksum") !== "" && textOf("search-passages") !== "");
await fetch("/results", {
  method: "POST",
  body: JSON.stringify({
    status: textOf("kernels"),
    label: document.querySelector("#intents-labels span").textContent,
    passage: document.querySelector("#search-passages li").textContent,
    dots: document.querySelectorAll("#search-map circle").length,
    bits: textOf("bits-result"),
    command: textOf("bits-command"),
    refused,
  }),
});
