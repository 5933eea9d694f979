// What is drawn above links: queues, PAUSEs, drops, faults, and what is selected. Each has a shape of its own.

// A dot at the port where bytes wait; its area goes with the bytes.
const drawMarks = (drawing, context, k) => {
  const { scene: { samples }, colours } = drawing;
  const most = Math.max(samples.mostQueued, 1);
  const largest = drawing.drawnLinks.length <= 120 ? 11 : 7;
  const dots = [];
  const bars = [];
  const crosses = [];
  for (let row = samples.first[k]; row < samples.first[k + 1]; row++) {
    const link = samples.link[row];
    if (samples.queue[row] > 0) dots.push([link, Math.sqrt(samples.queue[row] / most)]);
    if (samples.paused[row] > 0) bars.push(link);
    if (samples.dropped[row] > 0 || samples.lost[row] > 0) crosses.push(link);
  }
  context.fillStyle = colours.queue;
  context.beginPath();
  for (const [link, share] of dots) {
    const { x, y, dx, dy, room } = drawing.port(link);
    const cell = drawing.isOfCell(link);
    const radius = Math.max(Math.min(largest, room) * share, 0.8);
    const [a, b] = cell ? [x, y] : [x + dx * radius, y + dy * radius];
    context.moveTo(a + radius, b);
    context.arc(a, b, radius, 0, 2 * Math.PI);
  }
  context.fill();
  drawBars(drawing, context, bars);
  drawCrosses(drawing, context, crosses);
};

// Two bars across a link that is paused, at the end that may not send.
const drawBars = (drawing, context, links) => {
  context.strokeStyle = drawing.colours.pause;
  context.lineWidth = clamped(drawing.line, 1.2, 2.5);
  context.beginPath();
  for (const link of links) {
    const { x, y, dx, dy, room } = drawing.port(link);
    const reach = Math.min(5, Math.max(room, 2));
    for (const along of drawing.isOfCell(link) ? [-1.5, 1.5] : [15, 19].map((far) => Math.min(far, room))) {
      const [a, b] = [x + dx * along, y + dy * along];
      context.moveTo(a - dy * reach, b + dx * reach);
      context.lineTo(a + dy * reach, b - dx * reach);
    }
  }
  context.stroke();
};

// A cross where frames were dropped or lost.
const drawCrosses = (drawing, context, links) => {
  context.lineWidth = clamped(drawing.line * 0.8, 1.5, 2.6);
  context.strokeStyle = drawing.colours.drop;
  context.beginPath();
  for (const link of links) {
    const { x, y, dx, dy } = drawing.port(link);
    const size = drawing.drawnLinks.length <= 120 ? 6 : 4;
    const [a, b] = drawing.isOfCell(link) ? [x, y] : [x + dx * 8, y + dy * 8];
    context.moveTo(a - size, b - size);
    context.lineTo(a + size, b + size);
    context.moveTo(a - size, b + size);
    context.lineTo(a + size, b - size);
  }
  context.stroke();
};

// Links with a fault are dashed: red where nothing gets through, amber where some does.
const drawFaults = (drawing, context, k) => {
  context.setLineDash([6, 4]);
  context.lineWidth = Math.max(drawing.line, 1.6);
  for (const fault of drawing.scene.faultsAt(k)) {
    context.strokeStyle = WORSE.includes(fault.kind) ? drawing.colours.worse : drawing.colours.dead;
    context.beginPath();
    for (const link of fault.links) if (!drawing.isOfCell(link)) drawing.trace(context, link);
    const node = drawing.scene.nodeNumbers.get(fault.place);
    if (node != null) drawing.outline(context, node, 3);
    for (const link of fault.links.filter((of) => drawing.isOfCell(of))) {
      const { from, to } = drawing.scene.head;
      drawing.outline(context, drawing.scene.isHost(from[link]) ? from[link] : to[link], 1.5);
    }
    context.stroke();
  }
  context.setLineDash([]);
};

// A halo around the nodes and links that are pointed out.
const drawPointed = (drawing, context, { nodes, links }) => {
  context.strokeStyle = drawing.colours.select;
  context.lineWidth = 2 * drawing.line + 6;
  context.lineCap = "round";
  context.beginPath();
  for (const link of links) if (!drawing.isOfCell(link)) drawing.trace(context, link);
  context.stroke();
  context.lineCap = "butt";
  context.lineWidth = 3;
  context.beginPath();
  for (const node of nodes) drawing.outline(context, node, 3);
  context.stroke();
};
