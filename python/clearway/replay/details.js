// What the panel says of a network, a node, a link, a flow or a job: facts of a moment, and values over time.

const detail = (scene, selected, panel) => {
  if (selected == null) return ofNetwork(scene);
  return { node: ofNode, link: ofLink, flow: ofFlow, job: ofJob }[selected.kind](scene, selected.number, panel);
};

const strips = ({ queue, dropped, lost, marked }, paused, pausedTitle) => [
  { title: "Waiting", values: queue, unit: inBytes, colour: "queue" },
  { title: "Dropped (frames)", values: dropped, unit: inCount, colour: "drop" },
  { title: "Lost by faults (frames)", values: lost, unit: inCount, colour: "drop" },
  { title: "Marked with ECN (frames)", values: marked, unit: inCount, colour: "quiet" },
  { title: pausedTitle, values: paused, unit: inPercent, most: 1, colour: "pause" },
];

const MOST_PAUSED = "Most paused link";

const stripsOf = (scene, links) => {
  const { samples } = scene;
  const sum = (column) => samples.series(links, (row) => column[row]);
  const { queue, dropped, lost, marked } = samples;
  const sums = { queue: sum(queue), dropped: sum(dropped), lost: sum(lost), marked: sum(marked) };
  const paused = samples.series(links, (row, k) => samples.pausedShare(row, k), true);
  return strips(sums, paused, links.length === 1 ? "Paused" : MOST_PAUSED);
};

// Gb/s of some links together at each instant.
const rateOf = (scene, links) =>
  scene.samples.rates(scene.samples.series(links, (row) => scene.samples.sent[row]));

const ofNetwork = (scene) => {
  const { samples, flows, head } = scene;
  const all = flows.of(null);
  const us = (k) => samples.instants[k];
  return {
    title: "The whole network",
    about: "Select a host, a switch, a link or a flow for its own values: in the drawing, below, or by name above.",
    facts: [
      ["interval", (k) => `${inTime(samples.length(k))} until ${inTime(us(k))}`],
      ["flows under way", (k) => inCount(all.reduce((count, flow) => count + (flows.isActive(flow, us(k)) ? 1 : 0), 0))],
      ...(samples.totals.paused.some((links) => links > 0) ? [["paused links", (k) => inCount(samples.totals.paused[k])]] : []),
      ...(head.timeslot_us ? [["timeslot", (k) => `${inCount(Math.floor(us(k) / head.timeslot_us))}, of ${inTime(head.timeslot_us)}`]] : []),
    ],
    strips: [{ title: "Sent over all links", values: samples.rates(samples.totals.sent), unit: inRate }, ...scene.timeslots.strips(), ...strips(samples.totals, samples.mostPaused, MOST_PAUSED)],
    more: [],
  };
};

const ofLink = (scene, link, panel) => {
  const { samples, head } = scene;
  const back = scene.linkNumbers.get(`${head.nodes[head.to[link]]}>${head.nodes[head.from[link]]}`);
  const utilisation = samples.series([link], (row, k) => samples.utilisation(row, k));
  return {
    title: `Link ${scene.names[link]}`,
    about: `${inRate(head.rate_gbps[link])}, delay ${inTime(head.delay_us[link])}. What waits is at ${head.nodes[head.from[link]]}.`,
    facts: [["faults now", (k) => scene.faultsAt(k).filter((of) => of.links.includes(link)).map((of) => of.kind).join(", ") || "none"]],
    strips: [{ title: "Utilisation", values: utilisation, unit: inPercent, most: 1 }, ...stripsOf(scene, [link])],
    more: [element("ul", { className: "rows" }, panel.choice(scene.names[back], "way back", scene.names[back]))],
  };
};

const ofNode = (scene, node, panel) => {
  const { samples, flows, head } = scene;
  const [out, back] = [scene.outgoing[node], scene.incoming[node]];
  const role = scene.arbiters.has(node) ? `${head.roles[node]}, arbiter` : head.roles[node];
  if (!scene.isHost(node)) {
    const ports = element("ul", { className: "rows" });
    const most = samples.series(out, (row) => samples.queue[row], true);
    ports.append(...busiest(scene, out).map((link) => panel.choice(scene.names[link], "port", scene.names[link])));
    return {
      title: `${head.roles[node] === "relay" ? "Relay" : "Switch"} ${head.nodes[node]}`,
      about: `${role}, ${out.length} ports. What waits, is dropped or marked is at its ports.`,
      facts: [["most at one port", (k) => inBytes(most[k])]],
      strips: [{ title: "Sent by all ports", values: rateOf(scene, out), unit: inRate }, ...stripsOf(scene, out)],
      more: [element("h3", { textContent: "Ports, the busiest first" }), ports],
    };
  }
  const own = flows.of(node);
  const slotted = scene.timeslots.hosts.includes(node);
  const ways = [...out, ...back].map((link) => panel.choice(scene.names[link], "link", scene.names[link]));
  return {
    title: `Host ${head.nodes[node]}`,
    about: `${role}, ${out.map((link) => inRate(head.rate_gbps[link])).join(" and ")}. What waits, is dropped or marked is at the port that leads to it.`,
    facts: [
      ["its flows under way", (k) => inCount(own.filter((flow) => flows.isActive(flow, samples.instants[k])).length)],
      ...(slotted ? [["timeslots", (k) => scene.timeslots.inWords(node, k)]] : []),
    ],
    strips: [
      { title: "Sends", values: rateOf(scene, out), unit: inRate },
      { title: "Receives", values: rateOf(scene, back), unit: inRate },
      ...(slotted ? scene.timeslots.strips(node) : []),
      ...stripsOf(scene, back),
    ],
    more: [element("ul", { className: "rows" }, ...ways)],
  };
};

const MOST_PORTS = 12;

// Links by what has ever waited for them, then by what they sent.
const busiest = (scene, links) => {
  const { samples } = scene;
  const top = (link, column) => samples.series([link], (row) => column[row], true).reduce((a, b) => Math.max(a, b), 0);
  const keys = new Map(links.map((link) => [link, [top(link, samples.queue), top(link, samples.sent)]]));
  const order = (one, other) => keys.get(other)[0] - keys.get(one)[0] || keys.get(other)[1] - keys.get(one)[1];
  return [...links].sort(order).slice(0, MOST_PORTS);
};

const ofFlow = (scene, flow, panel) => {
  const { flows, head, samples } = scene;
  const [from, to] = [head.nodes[flows.from[flow]], head.nodes[flows.to[flow]]];
  const { ways } = scene.waysBetween(flows.from[flow], flows.to[flow]);
  const way = ways === 1 ? "its path is pointed out" : `its path is one of ${inCount(ways)} shortest ones, which are pointed out`;
  const took = flows.fct[flow];
  const state = (us) => (us < flows.start[flow] ? "not begun" : flows.isActive(flow, us) ? "under way" : "complete");
  const command = `clearway why ${head.where || "DIR"} --flow ${flow}`;
  return {
    title: `Flow ${flow}: ${from} to ${to}`,
    about: `${head.transports[flows.transport[flow]]}; ${way}.`,
    facts: [
      ["now", (k) => state(samples.instants[k])],
      ["bytes", () => (flows.bytes[flow] ? inBytes(flows.bytes[flow]) : "no size")],
      ["delivered in the run", () => inBytes(flows.delivered[flow])],
      ["start", () => inTime(flows.start[flow])],
      ["completion time", () => (Number.isFinite(took) ? `${inTime(took)}, ${flows.slowdown[flow].toFixed(2)} x alone` : "–")],
      ["retransmissions", () => inCount(flows.retransmissions[flow])],
    ],
    strips: [],
    more: [
      element("ul", { className: "rows" }, panel.choice(from, "from", from), panel.choice(to, "to", to)),
      ...(Number.isFinite(took)
        ? [element("p", { className: "note", textContent: "What it waited for:" }), element("pre", {}, element("code", { textContent: command }))]
        : []),
    ],
  };
};

const ofJob = (scene, number, panel) => {
  const { name, hosts, iterations_us: ended } = scene.head.jobs[number];
  const { samples } = scene;
  const links = hosts.flatMap((host) => scene.outgoing[host]);
  const rows = hosts.slice(0, 64).map((host) => panel.choice(scene.head.nodes[host], "host", scene.head.nodes[host]));
  return {
    title: `Job ${name}`,
    about: `On ${inCount(hosts.length)} hosts, which are pointed out; ${inCount(ended.length)} iterations ended in the run.`,
    facts: [["iterations ended by now", (k) => inCount(ended.filter((us) => us <= samples.instants[k]).length)]],
    strips: [{ title: "Sent by its hosts", values: rateOf(scene, links), unit: inRate }],
    more: [element("ul", { className: "rows" }, ...rows)],
  };
};
