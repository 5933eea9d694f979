// Small charts of a value over the instants, with the moment that is shown; a click goes to another.

class Strip {
  constructor(canvas, values, { colour, most, samples, spans = [], ticks = [], onSeek }) {
    Object.assign(this, { canvas, values, colour, samples, spans, ticks });
    this.most = most ?? Math.max(values.reduce((top, value) => Math.max(top, value), 0), 1e-12);
    const seek = (event) => {
      const box = canvas.getBoundingClientRect();
      onSeek(clamped(Math.floor(((event.clientX - box.left) / box.width) * values.length), 0, values.length - 1));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      seek(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons & 1 && seek(event));
    this.picture = null;
    // Asked for once and at each change of size: to ask for it in each frame lays the page out anew.
    this.box = null;
    new ResizeObserver(() => (this.box = null)).observe(canvas);
  }

  // Draws the values once, and above them the moment each time.
  draw(k) {
    const box = (this.box ??= this.canvas.getBoundingClientRect());
    const dpr = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(box.width * dpr), Math.round(box.height * dpr)];
    if (width === 0 || height === 0) return;
    const colours = palette();
    const key = `${width} ${height} ${colours.card}`;
    if (this.picture?.key !== key) this.picture = { key, canvas: this.#painted(width, height, colours) };
    if (this.canvas.width !== width || this.canvas.height !== height) {
      [this.canvas.width, this.canvas.height] = [width, height];
    }
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, width, height);
    context.drawImage(this.picture.canvas, 0, 0);
    const x = ((k + 0.5) / this.values.length) * width;
    // Pale, so that a value of this moment alone can be seen through it; the tip at the top is not.
    context.fillStyle = colours.ink;
    context.globalAlpha = 0.5;
    context.fillRect(Math.round(x - dpr / 2), 0, dpr, height);
    context.globalAlpha = 1;
    context.beginPath();
    context.moveTo(x - 4 * dpr, 0);
    context.lineTo(x + 4 * dpr, 0);
    context.lineTo(x, 5 * dpr);
    context.fill();
  }

  #painted(width, height, colours) {
    const canvas = element("canvas", { width, height });
    const context = canvas.getContext("2d");
    const count = this.values.length;
    context.fillStyle = colours.rule;
    for (const [from, to] of this.spans) {
      context.fillRect((from / count) * width, 0, Math.max(((to - from) / count) * width, 2), height);
    }
    context.fillStyle = colours[this.colour] ?? colours.shades[10];
    for (let x = 0; x < width; x++) {
      const from = Math.floor((x / width) * count);
      const to = Math.max(Math.ceil(((x + 1) / width) * count), from + 1);
      let most = 0;
      for (let k = from; k < to && k < count; k++) most = Math.max(most, this.values[k]);
      const high = most > 0 ? Math.max((most / this.most) * (height - 2), 1) : 0;
      context.fillRect(x, height - high, 1, high);
    }
    context.fillStyle = colours.drop;
    for (const k of this.ticks) context.fillRect(((k + 0.5) / count) * width - 1, 0, 2, height * 0.28);
    context.fillStyle = colours.rule;
    context.fillRect(0, height - 1, width, 1);
    return canvas;
  }
}
