// Draws the charts, follows the colour scheme and the window's width, shows and hides runs.
"use strict";

(() => {
  const charts = JSON.parse(document.getElementById("data").textContent);
  const hidden = new Set();
  const HEIGHT = 290;
  const COLOURS = 8;
  let drawn = [];

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (value) => {
    if (value == null) return "–";
    const digits = Math.abs(value) >= 1000 ? 0 : undefined;
    return value.toLocaleString("en", { maximumSignificantDigits: 4, maximumFractionDigits: digits });
  };
  const tick = (value) => (value == null ? "" : value.toLocaleString("en", { maximumSignificantDigits: 6 }));
  const shortTick = (value) => {
    if (value == null) return "";
    const [divisor, suffix] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([least]) => value >= least) ?? [1, ""];
    return tick(value / divisor) + suffix;
  };

  // Within a small range the digits of decades are too few: it is cut as a linear one would be.
  const SMALL = 3;
  const evenSplits = (low, high) => {
    const rough = (high - low) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((digit) => digit * 1.5 >= rough / power);
    const first = Math.ceil(low / step);
    const count = Math.floor(high / step) - first + 1;
    return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  };

  // Every digit of every decade in the range: uPlot's own start at the range's lower end, whatever that is.
  const decadeSplits = (_, __, low, high) => {
    if (high < SMALL * low) return evenSplits(low, high);
    const splits = [];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
      for (let digit = 1; digit < 10; digit++) splits.push(Number(`${digit}e${power}`));
    }
    return splits.filter((value) => value >= low && value <= high);
  };

  // On a logarithmic axis 1, 2 and 5 of a decade have labels; over many decades only 1, or there were no room; over less than
  // one all that there are.
  const labelled = (plot, splits, axis) => {
    const { min, max } = plot.scales[plot.axes[axis].scale];
    const decades = Math.log10(max / min);
    if (decades < 0.8) return splits;
    const wanted = decades > 2.2 ? [1] : [1, 2, 5];
    return splits.map((value) => {
      const leading = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
      return wanted.some((digit) => Math.abs(leading - digit) < 1e-6) ? value : null;
    });
  };

  // Lines have points of their own: under the cursor, the value of each is that of its nearest point.
  const nearest = (plot, series, index) => {
    if (series === 0 || plot.data[series][index] != null) return index;
    const values = plot.data[series];
    let before = index;
    let after = index;
    while (before >= 0 && values[before] == null) before--;
    while (after < values.length && values[after] == null) after++;
    if (before < 0 && after >= values.length) return index;
    if (before < 0) return after;
    if (after >= values.length) return before;
    const x = plot.data[0];
    return x[index] - x[before] <= x[after] - x[index] ? before : after;
  };

  // Beside its title an axis needs room for its longest number.
  const roomFor = (least) => (_, numbers) =>
    Math.max(least, 38 + 7 * Math.max(0, ...(numbers ?? []).map((number) => String(number ?? "").length)));

  const axis = (label, log, vertical, wide) => ({
    label,
    labelSize: 24,
    labelFont: "13px system-ui, sans-serif",
    font: "12px system-ui, sans-serif",
    stroke: colour("--quiet"),
    grid: { stroke: colour("--rule"), width: 1 },
    ticks: { stroke: colour("--rule"), width: 1 },
    size: vertical ? roomFor(wide ? 72 : 58) : 40,
    space: vertical ? 36 : 56,
    values: (_, splits) => splits.map(log ? shortTick : tick),
    ...(log ? { splits: decadeSplits, filter: labelled } : {}),
  });

  // A single value, or a range without one, still needs an axis with some room.
  const logRange = (_, low, high) => {
    if (!(low > 0)) return [1, 10];
    return low === high ? [low / 2, high * 2] : [low / 1.12, high * 1.12];
  };

  const series = (line, chart) => {
    const stroke = colour(`--series-${(line.run % COLOURS) + 1}`);
    return {
      label: line.label,
      stroke,
      width: line.scatter ? 0 : 1.75,
      dash: line.dashed ? [6, 4] : undefined,
      spanGaps: true,
      show: !hidden.has(line.run),
      points: chart.points || line.scatter ? { show: true, size: 6, fill: stroke, stroke } : { show: false },
      value: (_, value) => number(value),
    };
  };

  const draw = (box) => {
    const chart = charts[Number(box.dataset.chart)];
    const options = {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { markers: { width: 2, dash: (_, index) => (chart.lines[index - 1]?.dashed ? "dashed" : "solid") } },
      cursor: {
        dataIdx: nearest,
        drag: { x: true, y: false },
        ...(chart.time ? { sync: { key: "time" } } : {}),
      },
      scales: {
        x: { time: false, ...(chart.logX ? { distr: 3, range: logRange } : {}) },
        y: chart.logY ? { distr: 3, range: logRange } : chart.zoom ? {} : { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.06 : 1] },
      },
      axes: [axis(chart.x, chart.logX, false), axis(chart.y, chart.logY, true, chart.zoom)],
      series: [
        { label: chart.x, value: (_, value) => number(value) },
        ...chart.lines.map((line) => series(line, chart)),
      ],
    };
    const data = uPlot.join(chart.lines.map((line) => [line.x, line.y]));
    const plot = new uPlot(options, data, box);
    return { box, chart, plot };
  };

  const redraw = () => {
    drawn.forEach(({ plot }) => plot.destroy());
    drawn = [...document.querySelectorAll("[data-chart]")].map(draw);
  };

  redraw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const resized = new ResizeObserver(() => {
    for (const { box, plot } of drawn) {
      if (box.clientWidth !== plot.width) plot.setSize({ width: box.clientWidth, height: HEIGHT });
    }
  });
  document.querySelectorAll("[data-chart]").forEach((box) => resized.observe(box));

  for (const button of document.querySelectorAll("[data-run]")) {
    button.addEventListener("click", () => {
      const run = Number(button.dataset.run);
      if (!hidden.delete(run)) hidden.add(run);
      button.setAttribute("aria-pressed", String(!hidden.has(run)));
      for (const { chart, plot } of drawn) {
        chart.lines.forEach((line, index) => {
          if (line.run === run) plot.setSeries(index + 1, { show: !hidden.has(run) });
        });
      }
    });
  }
})();
