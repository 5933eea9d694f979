// Timeslots of Fastpass: what each host that sends in them did with those of an interval.

class Timeslots {
  constructor(samples, columns) {
    this.samples = samples;
    this.us = samples.head.timeslot_us;
    const rows = columns.slot_rows ?? new Uint32Array(samples.instants.length);
    this.used = columns.slots_used ?? [];
    this.unused = columns.slots_unused ?? [];
    this.late = columns.refused_late ?? [];
    this.waiting = columns.slots_waiting ?? [];
    this.host = new Uint32Array(this.used.length);
    this.first = new Uint32Array(rows.length + 1);
    for (let k = 0; k < rows.length; k++) {
      this.first[k + 1] = this.first[k] + rows[k];
      let host = 0;
      for (let row = this.first[k]; row < this.first[k + 1]; row++) this.host[row] = host += columns.slot_host_steps[row];
    }
    // All hosts that have a row at any instant.
    this.hosts = this.us ? [...new Set(this.host)].sort((one, other) => one - other) : [];
  }

  // Returns the shares of an interval's timeslots in which a host sent, and which it was granted and did not use. A grant may be
  // used some timeslots late, so that there may be more than the interval has.
  shares(row, k) {
    const all = Math.max(this.samples.length(k) / this.us, 1e-9);
    const used = Math.min(this.used[row] / all, 1);
    return [used, Math.min((this.unused[row] + this.late[row]) / all, 1 - used)];
  }

  // Returns the row of a host at an instant; -1 where there is none.
  rowOf(host, k) {
    for (let row = this.first[k]; row < this.first[k + 1]; row++) if (this.host[row] === host) return row;
    return -1;
  }

  // Returns the values of a host at each instant, or the sums of all hosts.
  series(host, column) {
    const values = new Float64Array(this.samples.instants.length);
    for (let k = 0; k < values.length; k++) {
      for (let row = this.first[k]; row < this.first[k + 1]; row++) {
        if (host == null || this.host[row] === host) values[k] += column[row];
      }
    }
    return values;
  }

  // Returns what the panel shows over time, of a host or of all together.
  strips(host = null) {
    if (this.hosts.length === 0) return [];
    return [
      { title: "Timeslots used", values: this.series(host, this.used), unit: inCount, colour: "slot" },
      { title: "Timeslots granted and unused", values: this.series(host, this.unused), unit: inCount, colour: "unused" },
      { title: "Timeslots refused as late", values: this.series(host, this.late), unit: inCount, colour: "unused" },
      { title: "Timeslots needed by what waits", values: this.series(host, this.waiting), unit: inCount, colour: "queue" },
    ];
  }

  // Says in which of an interval's timeslots a host sent.
  inWords(host, k) {
    const row = this.rowOf(host, k);
    return row < 0 ? "none used" : `${inCount(this.used[row])} used (${inPercent(this.shares(row, k)[0])})`;
  }
}

// How far below a host its bar of timeslots stands, beyond a halo, and how high the bar is.
const [BELOW, BAR] = [6, 4];

// Returns where the bar of a host stands: below its box, and in a cell along its lower edge.
const placeOfSlots = (drawing, host) => {
  const [x, y] = drawing.at(host);
  const [wide, high] = [drawing.half[2 * host], drawing.half[2 * host + 1]];
  if (!drawing.inCells) return [x - wide, y + high + BELOW, 2 * wide, BAR];
  const bar = Math.max(high / 3, 1);
  return [x - wide, y + high - bar, 2 * wide, bar];
};

// A bar at each host: from the left the timeslots in which it sent, then those that it was granted and did not use.
const drawTimeslots = (drawing, context, k) => {
  const { scene: { timeslots }, colours } = drawing;
  const bars = { idle: [], slot: [], unused: [] };
  for (const host of timeslots.hosts) bars.idle.push(placeOfSlots(drawing, host));
  for (let row = timeslots.first[k]; row < timeslots.first[k + 1] && timeslots.us; row++) {
    const [left, top, wide, high] = placeOfSlots(drawing, timeslots.host[row]);
    const [used, unused] = timeslots.shares(row, k).map((share) => share * wide);
    bars.slot.push([left, top, used, high]);
    bars.unused.push([left + used, top, unused, high]);
  }
  for (const [colour, all] of Object.entries(bars)) {
    context.fillStyle = colours[colour];
    for (const bar of all) context.fillRect(...bar);
  }
};
