// Puts the page together: what is shown follows from the instant and from what is selected, and both stand in the address.

const HASH_EVERY_MS = 500;

const start = async () => {
  const { head, columns } = await unpacked(byId("data").textContent.trim());
  byId("data").remove();
  const scene = new Scene({ head, columns });
  const drawing = new Drawing(scene, byId("still"), byId("moving"));
  let [selected, pointed, saved] = [null, scene.marked(null), 0];

  const remember = () => {
    saved = performance.now();
    const of = selected ? `&select=${encodeURIComponent(scene.nameOf(selected))}` : "";
    history.replaceState(null, "", `#t=${asKey(scene.samples.instants[clock.k])}${of}`);
  };
  const redraw = () => drawing.drawMoment(clock.k, pointed);
  const moment = (k, byPlaying) => {
    redraw();
    overview.draw(k);
    panel.update(k);
    if (!byPlaying || performance.now() - saved > HASH_EVERY_MS) remember();
  };
  const clock = new Clock(scene.samples, moment);
  const seek = (k) => clock.step(k - clock.k);
  const select = (found) => {
    selected = found;
    pointed = scene.marked(found);
    panel.show(found, clock.k);
    redraw();
    remember();
  };
  const panel = new Panel(scene, { onSeek: seek, onSelect: select });
  const overview = overviewOf(scene, seek);
  const restore = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    selected = scene.find(asked.get("select"));
    pointed = scene.marked(selected);
    const us = fromKey(asked.get("t"));
    panel.show(selected, clock.k);
    clock.seek(Number.isFinite(us) ? scene.samples.at(us) : 0);
  };
  const resize = () => {
    drawing.resize();
    moment(clock.k, true);
  };

  listenToKeys(clock, drawing, { redraw, clear: () => select(null) });
  listenToPointers(drawing, { redraw, select, point: (found, place) => showTip(scene, clock, found, place) });
  listenToSearch(scene, select);
  byId("clear").addEventListener("click", () => select(null));
  byId("fit").addEventListener("click", () => {
    drawing.fit();
    redraw();
  });
  byId("copy").addEventListener("click", () => copyAddress());
  window.addEventListener("hashchange", restore);
  window.addEventListener("resize", resize);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", resize);
  explain(scene);
  const asked = location.hash;
  drawing.resize();
  restore();
  byId("page").dataset.firstFrameMs = Math.round(performance.now());
  if (asked === "#bench") bench(clock);
};

// The strip above the scrubber: what all links sent, drops as ticks, and faults as grounds.
const overviewOf = (scene, onSeek) => {
  const { samples } = scene;
  const { sent, dropped, lost } = samples.totals;
  const ticks = [...dropped.keys()].filter((k) => dropped[k] + lost[k] > 0);
  const spans = scene.faults.map(({ at_us: at, until_us: until }) => [
    samples.at(at + 1e-3),
    until == null ? samples.instants.length : samples.at(until) + 1,
  ]);
  return new Strip(byId("overview"), samples.rates(sent), { samples, spans, ticks, onSeek });
};

// Leaves of the key what the run has, and says what has the shades.
const explain = (scene) => {
  const { samples, head } = scene;
  const there = {
    paused: samples.totals.paused.some((links) => links > 0),
    lossy: samples.totals.dropped.some((frames) => frames > 0) || samples.totals.lost.some((frames) => frames > 0),
    faulty: head.faults.length > 0,
    relayed: head.roles.includes("relay"),
    arbitrated: head.arbiters.length > 0,
    slotted: scene.timeslots.hosts.length > 0,
  };
  for (const item of document.querySelectorAll("[data-if]")) item.hidden = !there[item.dataset.if];
  const also = [there.lossy && "red ticks are drops", there.faulty && "grey grounds are faults"].filter(Boolean);
  byId("overview-note").textContent = `${["All links together", also.join(", ")].filter(Boolean).join("; ")}.`;
  if (head.cell) byId("shaded").textContent = "link, and cell of a host (left half: it sends)";
};

// Names what is under the pointer, with what it does at the moment.
const showTip = (scene, clock, found, place) => {
  const tip = byId("tip");
  tip.hidden = found == null;
  if (found == null) return;
  const { samples } = scene;
  const row = found.kind === "link" ? samples.rowOf(found.number, clock.k) : -1;
  const now = row < 0 ? "" : `: ${inPercent(samples.utilisation(row, clock.k))}, ${inBytes(samples.queue[row])} waiting`;
  const idle = found.kind === "link" && row < 0 ? ": idle" : now;
  const { timeslots } = scene;
  const slots = found.kind === "node" && timeslots.hosts.includes(found.number) ? `: timeslots, ${timeslots.inWords(found.number, clock.k)}` : "";
  tip.textContent = scene.nameOf(found) + idle + slots;
  tip.style.left = `${Math.min(place[0] + 12, byId("view").clientWidth - tip.offsetWidth - 4)}px`;
  tip.style.top = `${Math.max(place[1] - 30, 2)}px`;
};

const listenToSearch = (scene, select) => {
  const names = scene.head.nodes.slice(0, 3000).map((name) => element("option", { value: name }));
  byId("names").append(...names);
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = byId("find").value.trim();
    const found = scene.find(text);
    byId("find-note").textContent = found || text === "" ? "" : `There is no ${text}.`;
    if (found) select(found);
  });
};

const copyAddress = async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    byId("copy").textContent = "Copied";
  } catch {
    byId("copy").textContent = "Copy it from the address bar";
  }
  setTimeout(() => (byId("copy").textContent = "Copy link"), 1500);
};

// With #bench: draws a hundred frames, a moment each, and says how long each took until it was on the canvas.
const bench = (clock) => {
  const times = [];
  const frame = () => {
    const before = performance.now();
    clock.seek(Math.round((times.length * clock.last) / 100), true);
    byId("moving").getContext("2d").getImageData(0, 0, 1, 1);
    times.push(performance.now() - before);
    if (times.length < 100) return requestAnimationFrame(frame);
    const whole = times.reduce((sum, time) => sum + time, 0);
    const { firstFrameMs } = byId("page").dataset;
    const most = Math.max(...times).toFixed(1);
    console.log(`bench: first frame after ${firstFrameMs} ms; 100 frames, mean ${(whole / 100).toFixed(1)} ms, most ${most} ms`);
  };
  requestAnimationFrame(frame);
};

start().catch((error) => {
  byId("failed").hidden = false;
  byId("failed").textContent = `The page cannot show its data: ${error.message}. It needs a browser of 2023 or later.`;
});
