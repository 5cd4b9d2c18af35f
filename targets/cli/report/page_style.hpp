// SPDX-License-Identifier: Apache-2.0
// The style of a report. Text has a contrast of at least 4.5 on its ground, bars of at least 3, in
// both colour schemes; grounds that only group have less.
#pragma once

namespace embert::cli {

inline constexpr const char* kPageStyle = R"css(
:root {
  --ground: #ffffff; --ink: #1b1f24; --soft-ink: #57606a; --rule: #d5dae0; --panel: #f5f7f9;
  --fill: #0b6e8a; --old: #c4dfe7; --part0: #b5d8e2; --part1: #d9eaef; --good: #1a7f37; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171a; --ink: #e6e9ec; --soft-ink: #a3adb8; --rule: #363d45; --panel: #1c2126;
    --fill: #4fb3d1; --old: #24434f; --part0: #28505f; --part1: #1d3640; --good: #57c878; --bad: #ff8a80;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 68rem; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
h1 { margin: 0; font-size: 2rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 0 0 .5rem; font-size: 1.3rem; line-height: 1.3; }
h3 { margin: 0 0 .6rem; font-size: 1rem; }
p { margin: 0 0 1rem; max-width: 44rem; }
a { color: var(--fill); }
code { font: .92em ui-monospace, "DejaVu Sans Mono", monospace; white-space: nowrap; }
.kicker { margin: 0; color: var(--soft-ink); font-size: .9rem; }
.from { color: var(--soft-ink); }
.lead { font-size: 1.1rem; }
.verdict { padding: .6rem .9rem; border-left: 4px solid; background: var(--panel); max-width: none; }
.verdict strong { margin-right: .4rem; }
.pass { border-color: var(--good); } .pass strong { color: var(--good); }
.fail { border-color: var(--bad); } .fail strong { color: var(--bad); }
.warning { margin: 0 0 1.5rem; padding: .8rem .9rem; border-left: 4px solid var(--bad); background: var(--panel); }
.warning h2 { font-size: 1rem; } .warning ul { margin: 0; padding-left: 1.2rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 1.2rem 1.5rem; margin: 1.5rem 0 2rem; }
.tiles div { padding-top: .5rem; border-top: 2px solid var(--fill); }
dt { color: var(--soft-ink); font-size: .85rem; }
dd { margin: 0; font-size: 1.5rem; font-weight: 600; font-variant-numeric: tabular-nums; }
dd small { display: block; color: var(--soft-ink); font-size: .85rem; font-weight: 400; }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: 0; padding: .7rem 0; list-style: none;
  border-top: 1px solid var(--rule); border-bottom: 1px solid var(--rule); font-size: .92rem; }
section { margin-top: 3rem; }
figure { margin: 1.5rem 0 2rem; }
figcaption { margin-top: .6rem; max-width: 44rem; color: var(--soft-ink); font-size: .88rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top;
  font-weight: 400; }
thead th { color: var(--soft-ink); font-size: .85rem; vertical-align: bottom; }
bdi { overflow-wrap: anywhere; }
.few th bdi { overflow-wrap: break-word; }
.many td:not(:last-child) bdi { display: inline-block; max-width: 16rem; overflow-wrap: break-word; }
.many td:last-child bdi { display: inline-block; min-width: 16rem; }
.many .long { display: inline-block; min-width: 14rem; }
td data, th data, td.n { white-space: nowrap; }
.whole { white-space: nowrap; }
.few { max-width: 44rem; } .few tbody th.n { width: 7rem; }
.n { text-align: right; }
th:last-child, td:last-child { padding-right: 0; }
details { margin: .6rem 0; font-size: .9rem; }
summary { color: var(--fill); cursor: pointer; }
td small { display: block; color: var(--soft-ink); font-size: .85em; }
.bought { display: block; font-weight: 600; margin: -.15rem -.3rem; padding: .15rem .3rem; background: var(--old); }
svg { display: block; overflow: visible; }
svg svg { overflow: hidden; }
text { fill: var(--ink); } text.small { font-size: 12px; font-variant-numeric: tabular-nums; }
.bar { margin-top: 3px; background: var(--panel); } .many .bar { width: 0; min-width: 100%; }
.strip { margin-bottom: .8rem; } .bar rect, .fill { fill: var(--fill); }
.old { fill: var(--old); } .part0 { fill: var(--part0); } .part1 { fill: var(--part1); }
.rule { stroke: var(--rule); stroke-width: 1; }
.key { display: inline-block; width: .8em; height: .8em; margin-right: .25em; border: 1px solid var(--rule); }
.key.fill { background: var(--fill); } .key.old { background: var(--old); } .key.none { background: var(--ground); }
.beside { display: grid; grid-template-columns: 1fr 11rem; gap: .6rem; }
@media (max-width: 44rem) {
  body { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.6rem; }
  .wide { display: none; }
  .beside { display: block; position: relative; }
  .names { position: absolute; inset: 0; } .names text { paint-order: stroke; stroke: var(--ground); stroke-width: 4px; }
  table { font-size: .84rem; } .many { min-width: 38rem; } .many thead th { min-width: 5.5rem; }
  .many th:first-child { position: sticky; left: 0; min-width: 0; background: var(--ground) padding-box; }
  .bar { width: 0; min-width: 100%; }
}
@media print {
  :root { --ground: #fff; --ink: #000; --soft-ink: #444; --rule: #bbb; --panel: #f3f3f3; --fill: #0b6e8a;
    --old: #c4dfe7; --part0: #b5d8e2; --part1: #d9eaef; --good: #1a7f37; --bad: #b3261e; }
  body { padding: 0; max-width: none; font-size: 10.5pt; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  nav { display: none; }
  h2, h3 { break-after: avoid; } figcaption { break-before: avoid; } p, figcaption { orphans: 3; widows: 3; } tr, svg, .tiles { break-inside: avoid; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
  .scroll { overflow: visible; }
}
)css";

}  // namespace embert::cli
