// The network as it is drawn: nodes, links, ways between hosts, faults, and what a person has selected.

// The kinds of fault through which some frames still come.
const WORSE = ["loss", "corruption", "slow", "bypass"];

class Scene {
  constructor({ head, columns }) {
    this.head = head;
    this.samples = new Samples({ head, columns });
    this.timeslots = new Timeslots(this.samples, columns);
    this.flows = new Flows(columns);
    this.nodeNumbers = new Map(head.nodes.map((name, number) => [name, number]));
    this.names = head.from.map((from, link) => `${head.nodes[from]}>${head.nodes[head.to[link]]}`);
    this.linkNumbers = new Map(this.names.map((name, number) => [name, number]));
    this.outgoing = head.nodes.map(() => []);
    this.incoming = head.nodes.map(() => []);
    head.from.forEach((from, link) => {
      this.outgoing[from].push(link);
      this.incoming[head.to[link]].push(link);
    });
    this.arbiters = new Set(head.arbiters);
    this.faults = head.faults.map((fault) => ({ ...fault, links: this.#linksOf(fault.place) }));
  }

  isHost(node) {
    return this.head.roles[node] === "host";
  }

  // A fault's place is a cable (a-b), one direction (a>b), or a node, of which all links are meant.
  #linksOf(place) {
    const node = this.nodeNumbers.get(place);
    if (node != null) return [...this.outgoing[node], ...this.incoming[node]];
    if (this.linkNumbers.has(place)) return [this.linkNumbers.get(place)];
    for (let at = place.indexOf("-"); at > 0; at = place.indexOf("-", at + 1)) {
      const ends = [place.slice(0, at), place.slice(at + 1)];
      const found = this.linkNumbers.get(ends.join(">"));
      if (found != null) return [found, this.linkNumbers.get(ends.reverse().join(">"))];
    }
    return [];
  }

  // The faults of an instant: those that last at its end, and the links that they are about.
  faultsAt(k) {
    const [after, at] = [this.samples.instants[k] - this.samples.length(k), this.samples.instants[k]];
    return this.faults.filter((fault) => fault.at_us < at && (fault.until_us ?? Infinity) > after);
  }

  // The links of all shortest ways from one host to another.
  waysBetween(from, to) {
    const distance = this.#distances(to);
    if (distance[from] < 0) return { links: [], ways: 0 };
    const counts = new Map([[from, 1]]);
    const links = [];
    let layer = [from];
    while (layer.length > 0 && !layer.includes(to)) {
      const next = new Map();
      for (const node of layer) {
        for (const link of this.outgoing[node]) {
          const peer = this.head.to[link];
          if (distance[peer] !== distance[node] - 1 || (peer !== to && this.isHost(peer))) continue;
          links.push(link);
          next.set(peer, (next.get(peer) ?? 0) + counts.get(node));
        }
      }
      next.forEach((count, node) => counts.set(node, count));
      layer = [...next.keys()];
    }
    return { links, ways: counts.get(to) ?? 0 };
  }

  #distances(to) {
    const distance = new Int32Array(this.head.nodes.length).fill(-1);
    distance[to] = 0;
    let layer = [to];
    while (layer.length > 0) {
      const next = [];
      for (const node of layer) {
        if (node !== to && this.isHost(node)) continue;
        for (const link of this.incoming[node]) {
          const peer = this.head.from[link];
          if (distance[peer] >= 0) continue;
          distance[peer] = distance[node] + 1;
          next.push(peer);
        }
      }
      layer = next;
    }
    return distance;
  }

  // What a name stands for: a node, a link, a flow or a job; null for nothing that there is.
  find(text) {
    const node = this.nodeNumbers.get(text);
    if (node != null) return { kind: "node", number: node };
    const link = this.linkNumbers.get(text);
    if (link != null) return { kind: "link", number: link };
    const [, kind, digits] = /^(flow|job):(\d+)$/.exec(text ?? "") ?? [];
    const count = kind === "flow" ? this.flows.count : this.head.jobs.length;
    return kind && Number(digits) < count ? { kind, number: Number(digits) } : null;
  }

  nameOf(selected) {
    if (selected.kind === "node") return this.head.nodes[selected.number];
    if (selected.kind === "link") return this.names[selected.number];
    return `${selected.kind}:${selected.number}`;
  }

  // The nodes and links to be pointed out for what is selected.
  marked(selected) {
    if (selected == null) return { nodes: [], links: [] };
    const { kind, number } = selected;
    if (kind === "node") return { nodes: [number], links: [] };
    if (kind === "link") return { nodes: [], links: [number] };
    if (kind === "job") return { nodes: this.head.jobs[number].hosts, links: [] };
    const ends = [this.flows.from[number], this.flows.to[number]];
    return { nodes: ends, links: this.waysBetween(...ends).links };
  }
}
