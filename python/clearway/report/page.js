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

  // Every digit of every decade in the range, or of many only the first: uPlot's own start at the range's lower end.
  const decadeSplits = (_, __, low, high) => {
    if (high < SMALL * low) return evenSplits(low, high);
    const digits = Math.log10(high / low) > 4 ? 1 : 9;
    const splits = [];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
      for (let digit = 1; digit <= digits; digit++) splits.push(Number(`${digit}e${power}`));
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

  // Points with marks or intervals are not to be cut at the ends of the axis. What differs by less than a part in
  // ten thousand is one value, as equal ones of a scatter chart are parted a little.
  const roomyRange = (_, low, high) => {
    const alike = high - low < 1e-4 * Math.max(Math.abs(low), Math.abs(high));
    const room = (alike ? 0 : (high - low) * 0.03) || Math.abs(high) * 0.1 || 1;
    return [low - room, high + room];
  };

  // A single value, or a range without one, still needs an axis with some room.
  const logRange = (_, low, high) => {
    if (!(low > 0)) return [1, 10];
    return low === high ? [low / 2, high * 2] : [low / 1.12, high * 1.12];
  };

  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
  const lookOf = (line) => ({
    stroke: colour(`--series-${(line.colour % COLOURS) + 1}`),
    dash: DASHES[line.dash % DASHES.length],
    width: line.scatter ? 0 : line.thin ? 1 : 2,
  });

  const series = (line, chart) => {
    const { stroke, dash, width } = lookOf(line);
    const points = { show: true, size: line.scatter ? 8 : line.thin ? 4 : 6, fill: line.thin ? colour("--card") : stroke, stroke };
    return {
      label: line.label,
      stroke,
      width,
      dash,
      spanGaps: true,
      show: !hidden.has(line.run),
      points: chart.points || line.scatter ? points : { show: false },
      value: (_, value) => number(value),
    };
  };

  // In the legend a line is as in the chart; a border of CSS knows too few patterns.
  const markLegend = (plot, chart) => {
    plot.root.querySelectorAll(".u-legend .u-series:not(:first-child) .u-marker").forEach((marker, index) => {
      const line = chart.lines[index];
      const { stroke, dash, width } = lookOf(line);
      if (line.scatter) {
        marker.classList.add("dot");
        marker.style.background = stroke;
        return;
      }
      let at = 0;
      const stops = dash.map((length, part) => `${part % 2 ? "transparent" : stroke} ${at}px ${(at += length)}px`);
      marker.style.height = `${width}px`;
      marker.style.background = stops.length ? `repeating-linear-gradient(90deg, ${stops.join(", ")})` : stroke;
    });
  };

  // What is below a logarithmic axis is drawn at its lower end.
  const place = (plot, value, scale) => {
    const { min, distr } = plot.scales[scale];
    return plot.valToPos(distr === 3 ? Math.max(value, min) : value, scale, true);
  };

  // Intervals: bars where points are marked, else a band around the line.
  const drawIntervals = (chart) => (plot, index) => {
    const line = chart.lines[index - 1];
    if (!line?.low) return;
    const { ctx, bbox } = plot;
    const { stroke } = lookOf(line);
    const ends = line.x.flatMap((x, i) =>
      line.low[i] == null
        ? []
        : [[place(plot, x, "x"), place(plot, line.low[i], "y"), place(plot, line.high[i], "y")]],
    );
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.beginPath();
    if (chart.points || line.scatter) {
      const half = 3 * devicePixelRatio;
      for (const [x, low, high] of ends) {
        ctx.moveTo(x, low);
        ctx.lineTo(x, high);
        for (const y of [low, high]) {
          ctx.moveTo(x - half, y);
          ctx.lineTo(x + half, y);
        }
      }
      ctx.setLineDash([]);
      ctx.strokeStyle = stroke;
      ctx.lineWidth = devicePixelRatio;
      ctx.stroke();
    } else {
      ends.forEach(([x, low], i) => (i ? ctx.lineTo(x, low) : ctx.moveTo(x, low)));
      ends.reverse().forEach(([x, , high]) => ctx.lineTo(x, high));
      ctx.globalAlpha = line.thin ? 0.12 : 0.22;
      ctx.fillStyle = stroke;
      ctx.fill();
    }
    ctx.restore();
  };

  // The text of the point next to the cursor, if it is near.
  const NEAR = 24;
  const showTexts = (plot, chart) => {
    if (!chart.lines.some((line) => line.texts)) return;
    const box = document.createElement("div");
    box.className = "point-text";
    box.hidden = true;
    plot.over.append(box);
    const moved = ({ clientX, clientY }) => {
      const over = plot.over.getBoundingClientRect();
      const [left, top] = [clientX - over.left, clientY - over.top];
      let found = { distance: NEAR };
      chart.lines.forEach((line, index) => {
        if (!line.texts || !plot.series[index + 1].show) return;
        line.texts.forEach((text, i) => {
          if (line.y[i] == null) return;
          const [x, y] = [plot.valToPos(line.x[i], "x"), plot.valToPos(line.y[i], "y")];
          const distance = Math.hypot(x - left, y - top);
          if (distance < found.distance) found = { distance, x, y, text };
        });
      });
      box.hidden = found.text === undefined;
      if (box.hidden) return;
      box.textContent = found.text;
      const room = plot.over.clientWidth - box.offsetWidth;
      box.style.left = `${Math.max(0, Math.min(found.x + 10, room))}px`;
      const above = found.y - box.offsetHeight - 8;
      box.style.top = `${above < 0 ? found.y + 12 : above}px`;
    };
    plot.over.addEventListener("mousemove", moved);
    plot.over.addEventListener("click", moved);
    plot.over.addEventListener("mouseleave", () => (box.hidden = true));
  };

  // The ends of what is shown on an axis: uPlot does not know of intervals.
  const withIntervals = (chart, range) => (plot, low, high) => {
    const ends = chart.lines
      .filter((line) => line.low && !hidden.has(line.run))
      .flatMap((line) => [...line.low, ...line.high])
      .filter((end) => end != null && !(chart.logY && end <= 0));
    // An interval of two seeds may be so long that all else would be flat: it ends at the edge.
    const room = chart.logY ? 0 : Math.max(high - low, Math.abs(high) * 0.1);
    const [least, most] = chart.logY ? [low / 10, high * 10] : [low - room, high + room];
    for (const end of ends) {
      low = Math.max(least, Math.min(low, end));
      high = Math.min(most, Math.max(high, end));
    }
    return range(plot, low, high);
  };

  const rangeOf = (chart) => {
    if (chart.logY) return logRange;
    if (chart.zoom) return (_, low, high) => uPlot.rangeNum(low, high, 0.1, true);
    return (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.06 : 1];
  };

  const marked = (chart) => chart.points || chart.lines.some((line) => line.scatter);

  const draw = (box) => {
    const chart = charts[Number(box.dataset.chart)];
    const options = {
      width: box.clientWidth,
      height: HEIGHT,
      cursor: {
        dataIdx: nearest,
        drag: { x: true, y: false },
        ...(chart.time ? { sync: { key: "time" } } : {}),
      },
      scales: {
        x: { time: false, ...(chart.logX ? { distr: 3, range: logRange } : marked(chart) ? { range: roomyRange } : {}) },
        y: { distr: chart.logY ? 3 : 1, range: withIntervals(chart, rangeOf(chart)) },
      },
      axes: [axis(chart.x, chart.logX, false), axis(chart.y, chart.logY, true, chart.zoom)],
      series: [
        { label: chart.x, value: (_, value) => number(value) },
        ...chart.lines.map((line) => series(line, chart)),
      ],
      hooks: { drawSeries: [drawIntervals(chart)] },
    };
    const data = uPlot.join(chart.lines.map((line) => [line.x, line.y]));
    const plot = new uPlot(options, data, box);
    markLegend(plot, chart);
    showTexts(plot, chart);
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

  // A page from a disk may not be let near the clipboard: then the text is selected, and copied as by hand.
  const selected = (text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand("copy");
  };
  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      return true;
    } catch {
      return selected(text);
    }
  };

  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      const done = await copied(button.nextElementSibling);
      button.textContent = done ? "Copied" : "Selected";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }
})();
