// The samples: what happened at each link in each interval, and what there was at an instant.

class Samples {
  constructor({ head, columns }) {
    this.head = head;
    this.links = head.from.length;
    this.instants = columns.instant_us;
    this.sent = columns.sent_bytes;
    this.queue = columns.queue_bytes;
    this.dropped = columns.dropped_frames;
    this.lost = columns.lost_frames;
    this.marked = columns.marked_frames;
    this.paused = columns.paused_ns;
    this.first = new Uint32Array(this.instants.length + 1);
    for (let k = 0; k < this.instants.length; k++) this.first[k + 1] = this.first[k] + columns.rows[k];
    this.link = this.#linksOfRows(columns.link_steps);
    this.#addUp();
  }

  #linksOfRows(steps) {
    const links = new Uint32Array(steps.length);
    for (let k = 0; k < this.instants.length; k++) {
      let link = 0;
      for (let row = this.first[k]; row < this.first[k + 1]; row++) links[row] = link += steps[row];
    }
    return links;
  }

  // Adds up what happened at all links at each instant.
  #addUp() {
    const zeros = () => new Float64Array(this.instants.length);
    this.totals = { sent: zeros(), queue: zeros(), dropped: zeros(), lost: zeros(), marked: zeros(), paused: zeros() };
    const { sent, queue, dropped, lost, marked, paused } = this.totals;
    this.mostPaused = zeros();
    this.mostQueued = 0;
    for (let k = 0; k < this.instants.length; k++) {
      for (let row = this.first[k]; row < this.first[k + 1]; row++) {
        sent[k] += this.sent[row];
        queue[k] += this.queue[row];
        dropped[k] += this.dropped[row];
        lost[k] += this.lost[row];
        marked[k] += this.marked[row];
        if (this.queue[row] > this.mostQueued) this.mostQueued = this.queue[row];
        if (this.paused[row] === 0) continue;
        paused[k]++;
        this.mostPaused[k] = Math.max(this.mostPaused[k], this.pausedShare(row, k));
      }
    }
  }

  // Lists the rows of each link, and the instant of each row: only when a link is asked for.
  #sortByLink() {
    if (this.rowsOfLink) return;
    const rows = this.link.length;
    this.firstOfLink = new Uint32Array(this.links + 1);
    for (let row = 0; row < rows; row++) this.firstOfLink[this.link[row] + 1]++;
    for (let link = 0; link < this.links; link++) this.firstOfLink[link + 1] += this.firstOfLink[link];
    const next = this.firstOfLink.slice();
    this.rowsOfLink = new Uint32Array(rows);
    this.instantOf = new Uint32Array(rows);
    for (let k = 0; k < this.instants.length; k++) {
      for (let row = this.first[k]; row < this.first[k + 1]; row++) {
        this.rowsOfLink[next[this.link[row]]++] = row;
        this.instantOf[row] = k;
      }
    }
  }

  // The time in microseconds since the instant before.
  length(k) {
    return this.instants[k] - (k > 0 ? this.instants[k - 1] : this.head.begin_us);
  }

  utilisation(row, k) {
    const most = this.head.rate_gbps[this.link[row]] * 125 * this.length(k);
    return most > 0 ? Math.min(this.sent[row] / most, 1) : 0;
  }

  pausedShare(row, k) {
    return Math.min(this.paused[row] / (1000 * this.length(k)), 1);
  }

  // The row of a link at an instant; -1 where nothing happened.
  rowOf(link, k) {
    let [low, high] = [this.first[k], this.first[k + 1]];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.link[middle] < link) low = middle + 1;
      else high = middle;
    }
    return low < this.first[k + 1] && this.link[low] === link ? low : -1;
  }

  // The values of some links at each instant: the sum, or the largest.
  series(links, value, most = false) {
    this.#sortByLink();
    const values = new Float64Array(this.instants.length);
    for (const link of links) {
      for (let i = this.firstOfLink[link]; i < this.firstOfLink[link + 1]; i++) {
        const row = this.rowsOfLink[i];
        const k = this.instantOf[row];
        values[k] = most ? Math.max(values[k], value(row, k)) : values[k] + value(row, k);
      }
    }
    return values;
  }

  // The first instant that is not before a time.
  at(us) {
    const found = this.instants.findIndex((instant) => instant >= us - 1e-6);
    return found < 0 ? this.instants.length - 1 : found;
  }

  // Bytes of an interval as Gb/s.
  rates(bytes) {
    return bytes.map((sent, k) => sent / 125 / this.length(k));
  }
}

// The flows, and which of them are under way.
class Flows {
  constructor(columns) {
    Object.assign(this, {
      from: columns.flow_from,
      to: columns.flow_to,
      bytes: columns.flow_bytes,
      delivered: columns.flow_delivered_bytes,
      retransmissions: columns.flow_retransmissions,
      transport: columns.flow_transport,
      start: columns.flow_start_us,
      fct: columns.flow_fct_us,
      slowdown: columns.flow_slowdown,
    });
    this.count = this.start.length;
  }

  end(flow) {
    return Number.isFinite(this.fct[flow]) ? this.start[flow] + this.fct[flow] : Number.POSITIVE_INFINITY;
  }

  isActive(flow, us) {
    return this.start[flow] <= us && us < this.end(flow);
  }

  // Flows from a host or to it; all without one.
  of(host) {
    const found = [];
    for (let flow = 0; flow < this.count; flow++) {
      if (host == null || this.from[flow] === host || this.to[flow] === host) found.push(flow);
    }
    return found;
  }
}
