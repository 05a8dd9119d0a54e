// Draws the plots of the first page. Their tables tell the same without it.
"use strict";
(() => {
  // The kinds in the order in which they stand on each other, the topmost first: each is drawn as the sum of itself and what is
  // below it, so that the lower ones cover the rest.
  const kinds = [
    ["rejected", "Rejected", "--bad"], ["deferred", "Deferred", "--dull"], ["ambiguous", "Ambiguous", "--warn"],
    ["suppressed", "Repeats suppressed", "--calm"], ["accepted", "Accepted", "--good"],
  ];
  const drawn = new Map(); // by the element
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const whole = (u, splits) => splits.map((v) => (Number.isInteger(v) ? v.toLocaleString() : ""));

  const stacked = (data) => {
    const sums = data.at.map(() => 0);
    return [data.at, ...kinds.map(([name]) => name).reverse().map((name) => data[name].map((n, i) => (sums[i] += n))).reverse()];
  };

  const options = (el) => {
    const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
    const value = (name) => (u, sum, s, i) => (i == null ? "–" : drawn.get(el).data[name][i].toLocaleString());
    return {
      width: el.clientWidth || 300, height: 220, padding: [8, 24, 0, 0], cursor: { points: { show: false } },
      scales: { x: { range: (u, min, max) => [min, max + (u.data[0][1] - u.data[0][0])] }, y: { range: (u, min, max) => [0, Math.max(4, max * 1.1)] } },
      axes: [axis, { ...axis, values: whole, size: 48 }],
      series: [{ label: "From" }, ...kinds.map(([name, label, c]) => ({
        label, stroke: colour(c), fill: colour(c), width: 0, paths: uPlot.paths.bars({ size: [0.8, 24], align: 1 }), points: { show: false }, value: value(name),
      }))],
    };
  };

  const draw = (el, data) => {
    el.hidden = false;
    drawn.get(el)?.plot.destroy();
    const d = { data };
    drawn.set(el, d);
    d.plot = new uPlot(options(el), stacked(data), el);
  };

  const load = async () => {
    const all = [...document.querySelectorAll("[data-plot]")];
    if (!all.length) return;
    const answer = await fetch(all[0].dataset.from, { headers: { Accept: "application/json" } });
    if (!answer.ok || !(answer.headers.get("Content-Type") || "").startsWith("application/json")) return;
    const data = await answer.json();
    for (const el of all) {
      const old = drawn.get(el), one = data[el.dataset.plot];
      if (!old) draw(el, one);
      else { old.data = one; old.plot.setData(stacked(one)); }
    }
  };
  const again = () => { if (!document.hidden) load().catch(() => {}); };

  document.addEventListener("DOMContentLoaded", () => {
    again();
    setInterval(again, 10_000);
    new ResizeObserver(() => {
      for (const [el, d] of drawn) if (el.clientWidth && el.clientWidth !== d.plot.width) d.plot.setSize({ width: el.clientWidth, height: 220 });
    }).observe(document.getElementById("main"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { for (const [el, d] of drawn) draw(el, d.data); });
  });
  document.addEventListener("htmx:afterSettle", again);
})();
