// Draws the network: once for each view what does not change, and for each moment the links by what they carry.

const SHADES = 17;
// How much the drawing may be stretched from top to bottom to fill its place.
const [SHORTEST, TALLEST] = [0.7, 1.7];

// Colours of the style sheet, as the colour scheme has them.
const readPalette = () => {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  const stops = [0, 1, 2, 3, 4].map((stop) => get(`--load-${stop}`));
  const channel = (hex, at) => Number.parseInt(hex.slice(1 + 2 * at, 3 + 2 * at), 16);
  const shade = (number) => {
    const place = (number / (SHADES - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    const mixed = [0, 1, 2].map((at) => {
      const [one, other] = [channel(stops[low], at), channel(stops[low + 1], at)];
      return Math.round(one + (other - one) * (place - low));
    });
    return `rgb(${mixed.join(" ")})`;
  };
  const names = ["card", "ink", "quiet", "rule", "idle", "queue", "pause", "drop", "dead", "worse", "select", "slot", "unused"];
  const colours = Object.fromEntries(names.map((name) => [name, get(`--${name}`)]));
  return { ...colours, shades: Array.from({ length: SHADES }, (_, number) => shade(number)) };
};

let known = null;
const palette = () => (known ??= readPalette());
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (known = null));

const clamped = (value, low, high) => Math.min(Math.max(value, low), high);

class Drawing {
  constructor(scene, still, moving) {
    this.scene = scene;
    this.canvases = [still, moving];
    [this.still, this.moving] = this.canvases.map((canvas) => canvas.getContext("2d"));
    const { head } = scene;
    this.room = this.#roomOfNodes();
    this.inCells = head.cell != null;
    this.drawnLinks = head.from.map((_, link) => link).filter((link) => !this.isOfCell(link));
    this.ends = new Float32Array(head.from.length * 4);
    this.half = new Float32Array(head.nodes.length * 2);
    this.view = null;
    this.colours = palette();
  }

  // A host that is a cell has no line: the left half of the cell is its link there, the right half its link back.
  isOfCell(link) {
    const { from, to } = this.scene.head;
    return this.scene.head.cell != null && (this.scene.isHost(from[link]) || this.scene.isHost(to[link]));
  }

  // The distance of each node from its nearest neighbour beside it.
  #roomOfNodes() {
    const { x, y } = this.scene.head;
    const rows = new Map();
    y.forEach((down, node) => rows.set(down, [...(rows.get(down) ?? []), node]));
    const room = new Float32Array(x.length).fill(160);
    for (const nodes of rows.values()) {
      nodes.sort((one, other) => x[one] - x[other]);
      let least = 160;
      for (let i = 1; i < nodes.length; i++) least = Math.min(least, x[nodes[i]] - x[nodes[i - 1]]);
      nodes.forEach((node) => (room[node] = least));
    }
    return room;
  }

  // Takes the size of the place it draws in, and shows the whole network there if nothing else is looked at.
  resize() {
    const box = this.canvases[0].parentElement.getBoundingClientRect();
    const keeps = this.view && !this.view.fits ? this.view : null;
    [this.width, this.height] = [box.width, box.height];
    this.dpr = Math.min(window.devicePixelRatio || 1, 2);
    for (const canvas of this.canvases) {
      canvas.width = Math.round(box.width * this.dpr);
      canvas.height = Math.round(box.height * this.dpr);
    }
    if (keeps) this.look(keeps);
    else this.fit();
  }

  fit() {
    const { width, height } = this.scene.head;
    const scale = Math.min(this.width / width, this.height / (SHORTEST * height));
    this.fitted = scale;
    this.tall = clamped(this.height / (height * scale), SHORTEST, TALLEST);
    const [x, y] = [(this.width - width * scale) / 2, Math.max((this.height - height * scale * this.tall) / 2, 0)];
    this.look({ scale, x, y, fits: true });
  }

  // Makes a point of the screen the middle of a closer or farther look.
  zoom(factor, x, y) {
    const scale = clamped(this.view.scale * factor, this.fitted * 0.5, this.fitted * 60);
    const by = scale / this.view.scale;
    this.look({ scale, x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by, fits: false });
  }

  move(x, y) {
    this.look({ ...this.view, x: this.view.x + x, y: this.view.y + y, fits: false });
  }

  look(view) {
    this.view = view;
    this.colours = palette();
    const { head } = this.scene;
    const cables = this.drawnLinks.length / 2;
    const closer = Math.sqrt(view.scale / this.fitted);
    this.line = (cables <= 60 ? 4 : cables <= 300 ? 2.2 : cables <= 1200 ? 1.2 : 0.8) * Math.min(closer, 4);
    if (this.width < 600) this.line = Math.max(this.line * 0.7, 0.7);
    head.nodes.forEach((_, node) => this.half.set(this.#halfOf(node), 2 * node));
    for (const link of this.drawnLinks) this.#place(link);
    this.drawStill();
  }

  #halfOf(node) {
    const { scale } = this.view;
    const { cell } = this.scene.head;
    if (cell && this.scene.isHost(node)) return [Math.max((cell[0] * scale) / 2, 0.5), Math.max((cell[1] * scale * this.tall) / 2, 0.5)];
    const wide = clamped(this.room[node] * scale * 0.4, 1.5, 38);
    const high = clamped(wide * 0.6, 2.5, 12);
    return this.scene.head.roles[node] === "relay" ? [Math.min(wide, 1.4 * high), 1.2 * high] : [wide, high];
  }

  at(node) {
    const { x, y } = this.scene.head;
    return [x[node] * this.view.scale + this.view.x, y[node] * this.view.scale * this.tall + this.view.y];
  }

  // Each direction is drawn on its right-hand side, from the edge of one node to that of the next.
  #place(link) {
    const { from, to } = this.scene.head;
    let [x1, y1] = this.at(from[link]);
    let [x2, y2] = this.at(to[link]);
    const level = Math.abs(y1 - y2) < 1e-6;
    const [wide, high] = level ? [1, 0] : [0, 1];
    const lifted = this.lift(link) > 0;
    const sign = [Math.sign(x2 - x1), Math.sign(y2 - y1)];
    if (lifted) {
      [y1, y2] = [y1 - this.half[2 * from[link] + 1], y2 - this.half[2 * to[link] + 1]];
    } else {
      x1 += wide * sign[0] * this.half[2 * from[link]];
      x2 -= wide * sign[0] * this.half[2 * to[link]];
      y1 += high * sign[1] * this.half[2 * from[link] + 1];
      y2 -= high * sign[1] * this.half[2 * to[link] + 1];
      // The ports of a node stand side by side, in the order of where their links go.
      const turn = clamped((x2 - x1) / (0.5 * this.scene.head.width * this.view.scale), -1, 1) * 0.85 * high;
      x1 += turn * this.half[2 * from[link]];
      x2 -= turn * this.half[2 * to[link]];
    }
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const aside = this.line / 2 + (this.line > 1.5 ? 0.6 : 0);
    const [dx, dy] = [(-(y2 - y1) / length) * aside, ((x2 - x1) / length) * aside];
    this.ends.set([x1 + dx, y1 + dy, x2 + dx, y2 + dy], 4 * link);
  }

  lift(link) {
    return this.scene.head.lifts[link >> 1] ?? 0;
  }

  // Adds a link to the path of a context.
  trace(context, link) {
    const [x1, y1, x2, y2] = this.ends.subarray(4 * link, 4 * link + 4);
    context.moveTo(x1, y1);
    const lift = this.lift(link);
    if (lift > 0) context.quadraticCurveTo((x1 + x2) / 2, (y1 + y2) / 2 - 2 * lift * this.view.scale, x2, y2);
    else context.lineTo(x2, y2);
  }

  // Where a port is that feeds a link, and which way its link goes; a host's cell is both ports of its link.
  port(link) {
    const { from, to } = this.scene.head;
    if (this.isOfCell(link)) {
      const out = this.scene.isHost(from[link]);
      const host = out ? from[link] : to[link];
      const [x, y] = this.at(host);
      const wide = this.half[2 * host];
      return { x: x + (out ? -wide / 2 : wide / 2), y, dx: 0, dy: -1, room: Math.min(wide, this.half[2 * host + 1]) };
    }
    const [x1, y1, x2, y2] = this.ends.subarray(4 * link, 4 * link + 4);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    return { x: x1, y: y1, dx, dy, room: Math.min(length / 3, Math.max(this.room[from[link]] * this.view.scale, 5)) };
  }

  // Draws what stays the same in a view: idle links, nodes and names.
  drawStill() {
    const [context, { colours }] = [this.still, this];
    this.#begin(context);
    context.strokeStyle = colours.idle;
    context.lineWidth = Math.min(this.line, 2);
    context.beginPath();
    for (const link of this.drawnLinks) this.trace(context, link);
    if (this.inCells) this.#traceTrunks(context);
    context.stroke();
    this.scene.head.nodes.forEach((_, node) => this.#node(context, node));
  }

  #begin(context) {
    context.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
  }

  // The lines from a switch to the block of its hosts.
  #traceTrunks(context) {
    const { outgoing, head } = this.scene;
    head.nodes.forEach((_, node) => {
      const hosts = outgoing[node].map((link) => head.to[link]).filter((peer) => this.scene.isHost(peer));
      if (this.scene.isHost(node) || hosts.length === 0) return;
      const [x, y] = this.at(node);
      const top = hosts.reduce((least, host) => Math.min(least, this.at(host)[1] - this.half[2 * host + 1]), Infinity);
      context.moveTo(x, y);
      context.lineTo(x, top);
    });
  }

  #node(context, node) {
    const [[x, y], { colours }] = [this.at(node), this];
    const [wide, high] = [this.half[2 * node], this.half[2 * node + 1]];
    if (x < -wide || x > this.width + wide || y < -high || y > this.height + high) return;
    const cell = this.inCells && this.scene.isHost(node);
    context.fillStyle = cell ? colours.idle : colours.card;
    context.strokeStyle = this.scene.arbiters.has(node) ? colours.pause : colours.quiet;
    context.lineWidth = this.scene.arbiters.has(node) ? 2.5 : 1;
    context.beginPath();
    this.outline(context, node);
    context.fill();
    if (!cell || this.scene.arbiters.has(node)) context.stroke();
    this.#name(context, node, [x, y], [wide, high]);
  }

  // A relay is a diamond, everything else a box.
  outline(context, node, more = 0) {
    const [x, y] = this.at(node);
    const [wide, high] = [this.half[2 * node] + more, this.half[2 * node + 1] + more];
    if (this.scene.head.roles[node] === "relay") {
      context.moveTo(x - wide, y);
      for (const [a, b] of [[0, -high], [wide, 0], [0, high]]) context.lineTo(x + a, y + b);
      context.closePath();
    } else if (wide > 4) {
      context.roundRect(x - wide, y - high, 2 * wide, 2 * high, this.scene.isHost(node) ? 4 : 2);
    } else {
      context.rect(x - wide, y - high, 2 * wide, 2 * high);
    }
  }

  // A name stands in its box, or beside a diamond; where there is no room for it there is none.
  #name(context, node, [x, y], [wide, high]) {
    const relay = this.scene.head.roles[node] === "relay";
    const name = this.scene.head.nodes[node];
    const size = clamped(high * (relay ? 0.9 : 1.1), 7, 12);
    if (high < 5 || (name.length * size * 0.56 > 2 * wide - 2 && !relay)) return;
    context.fillStyle = this.colours.ink;
    context.font = `${size}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = relay ? "bottom" : "middle";
    context.fillText(name, x, relay ? y - high - 2 : y + 0.5);
    if (this.scene.arbiters.has(node) && high > 8) {
      context.fillStyle = this.colours.quiet;
      context.fillText("arbiter", x, y + high + 9);
    }
  }

  // Draws a moment: links by what they carry, and above them what is marked.
  drawMoment(k, pointed) {
    const context = this.moving;
    this.#begin(context);
    const shaded = this.#byShade(k);
    // Beside links that are pointed out, all others are pale.
    context.globalAlpha = pointed.links.length > 0 ? 0.25 : 1;
    this.#strokeShaded(context, shaded);
    context.globalAlpha = 1;
    drawPointed(this, context, pointed);
    if (pointed.links.length > 0) {
      const shown = new Set(pointed.links);
      this.#strokeShaded(context, shaded.map((links) => links.filter((link) => shown.has(link))));
    }
    drawTimeslots(this, context, k);
    drawFaults(this, context, k);
    drawMarks(this, context, k);
  }

  #strokeShaded(context, shaded) {
    context.lineWidth = this.line;
    shaded.forEach((links, shade) => {
      if (links.length === 0) return;
      context.strokeStyle = context.fillStyle = this.colours.shades[shade];
      context.beginPath();
      for (const link of links) if (!this.isOfCell(link)) this.trace(context, link);
      context.stroke();
      if (this.inCells) for (const link of links) if (this.isOfCell(link)) this.#halfCell(context, link);
    });
  }

  // The links that carry anything, by the shade of how much.
  #byShade(k) {
    const { samples } = this.scene;
    const shaded = Array.from({ length: SHADES }, () => []);
    for (let row = samples.first[k]; row < samples.first[k + 1]; row++) {
      const share = samples.utilisation(row, k);
      if (share > 0) shaded[Math.max(Math.round(share * (SHADES - 1)), 1)].push(samples.link[row]);
    }
    return shaded;
  }

  #halfCell(context, link) {
    const { from, to } = this.scene.head;
    const out = this.scene.isHost(from[link]);
    const host = out ? from[link] : to[link];
    const [x, y] = this.at(host);
    const [wide, high] = [this.half[2 * host], this.half[2 * host + 1]];
    context.fillRect(out ? x - wide : x, y - high, wide, 2 * high);
  }

  // Returns what is at a point of the screen: a node, or the nearest link.
  hit(x, y) {
    for (let node = 0; node < this.scene.head.nodes.length; node++) {
      const [a, b] = this.at(node);
      const [wide, high] = [this.half[2 * node], this.half[2 * node + 1]];
      if (Math.abs(x - a) <= Math.max(wide, 3) && Math.abs(y - b) <= Math.max(high, 3)) return { kind: "node", number: node };
    }
    let [best, found] = [7, null];
    for (const link of this.drawnLinks) {
      const distance = this.#distance(link, x, y);
      if (distance < best) [best, found] = [distance, { kind: "link", number: link }];
    }
    return found;
  }

  #distance(link, x, y) {
    const [x1, y1, x2, y2] = this.ends.subarray(4 * link, 4 * link + 4);
    const square = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
    const along = clamped(((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / square, 0, 1);
    const up = 4 * along * (1 - along) * this.lift(link) * this.view.scale;
    return Math.hypot(x - x1 - along * (x2 - x1), y - y1 - along * (y2 - y1) + up);
  }
}
