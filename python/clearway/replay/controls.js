// Time: which instant is shown, playing, and the controls for both.

// Speeds, in parts of the one at which the whole replay takes some twenty seconds.
const SPEEDS = [0.05, 0.2, 0.5, 1, 2, 5];
const WHOLE_S = 20;

// The nearest of 1, 2 and 5 in its decade.
const rounded = (value) => {
  const decade = 10 ** Math.floor(Math.log10(value));
  return decade * [1, 2, 5, 10].find((digit) => digit * 1.4 >= value / decade);
};

class Clock {
  constructor(samples, onMoment) {
    this.samples = samples;
    this.onMoment = onMoment;
    this.k = 0;
    this.at = 0;
    this.playing = false;
    this.whole = samples.instants.at(-1) - samples.head.begin_us;
    const usual = rounded(this.whole / WHOLE_S);
    const option = (speed) => ({ value: usual * speed, textContent: `${inTime(usual * speed)} a second`, selected: speed === 1 });
    byId("speed").append(...SPEEDS.map((speed) => element("option", option(speed))));
    Object.assign(byId("scrubber"), { min: 0, max: samples.instants.length - 1, value: 0 });
    byId("scrubber").addEventListener("input", () => this.seek(Number(byId("scrubber").value)));
    byId("play").addEventListener("click", () => this.toggle());
    byId("back").addEventListener("click", () => this.step(-1));
    byId("forward").addEventListener("click", () => this.step(1));
  }

  get last() {
    return this.samples.instants.length - 1;
  }

  // Shows an instant; the event says that it was not playing that led there.
  seek(k, byPlaying = false) {
    this.k = clamped(k, 0, this.last);
    if (!byPlaying) this.at = this.k;
    const us = this.samples.instants[this.k];
    byId("scrubber").value = this.k;
    byId("scrubber").setAttribute("aria-valuetext", inTime(us));
    byId("time").textContent = `${inTime(us)} of ${inTime(this.samples.instants[this.last])}`;
    this.onMoment(this.k, byPlaying);
  }

  step(by) {
    this.pause();
    this.seek(this.k + by);
  }

  pause() {
    if (this.playing) this.toggle();
  }

  toggle() {
    this.playing = !this.playing;
    byId("play").textContent = this.playing ? "Pause" : "Play";
    byId("play").ariaPressed = String(this.playing);
    if (!this.playing) {
      this.onMoment(this.k, false);
      return;
    }
    if (this.k === this.last) this.seek(0);
    let before = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      const us = (Number(byId("speed").value) * (now - before)) / 1000;
      const instants = ((this.last + 1) * us) / this.whole;
      before = now;
      this.at = Math.min(this.at + Math.max(instants, 0), this.last);
      if (Math.floor(this.at) !== this.k) this.seek(Math.floor(this.at), true);
      if (this.k === this.last) this.toggle();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}

// The keys that move through time and look around; they are for the drawing, not for fields of text.
const listenToKeys = (clock, drawing, { redraw, clear }) => {
  const keys = {
    " ": () => clock.toggle(),
    ArrowLeft: (event) => clock.step(event.shiftKey ? -10 : -1),
    ArrowRight: (event) => clock.step(event.shiftKey ? 10 : 1),
    Home: () => clock.step(-clock.last),
    End: () => clock.step(clock.last),
    "+": () => drawing.zoom(1.25, drawing.width / 2, drawing.height / 2),
    "-": () => drawing.zoom(0.8, drawing.width / 2, drawing.height / 2),
    0: () => drawing.fit(),
    Escape: () => clear(),
  };
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input:not([type=range]), select, textarea");
    const button = event.target.closest("button") && (event.key === " " || event.key === "Enter");
    if (field || button || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key](event);
    redraw();
  });
};

// Looking around with a pointer: the wheel looks closer, dragging moves, a click selects; two fingers do both.
const listenToPointers = (drawing, { redraw, select, point }) => {
  const view = byId("view");
  const fingers = new Map();
  let moved = 0;
  const place = (event) => {
    const box = view.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  view.addEventListener("wheel", (event) => {
    event.preventDefault();
    drawing.zoom(Math.exp(-clamped(event.deltaY, -100, 100) * 0.003), ...place(event));
    redraw();
  }, { passive: false });
  view.addEventListener("pointerdown", (event) => {
    view.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    moved = fingers.size > 1 ? Infinity : 0;
  });
  view.addEventListener("pointermove", (event) => {
    const [now, before] = [place(event), fingers.get(event.pointerId)];
    if (!before) return point(drawing.hit(...now), now);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const [far, near] = [now, before].map(([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1);
      drawing.zoom(far / near, ...other);
    } else {
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (moved > 4) drawing.move(now[0] - before[0], now[1] - before[1]);
    }
    fingers.set(event.pointerId, now);
    redraw();
  });
  view.addEventListener("pointerup", (event) => {
    fingers.delete(event.pointerId);
    if (moved <= 4) select(drawing.hit(...place(event)));
  });
  view.addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));
  view.addEventListener("pointerleave", () => point(null));
};
