// The side panel: what is selected with its values over time, and lists to select from.

const LISTED = 100;

class Panel {
  constructor(scene, { onSeek, onSelect }) {
    Object.assign(this, { scene, onSeek, onSelect });
    this.facts = [];
    this.strips = [];
    this.lists = { flows: () => this.#flows(), jobs: () => this.#jobs(), faults: () => this.#faults() };
    for (const tab of document.querySelectorAll("[role=tab]")) {
      tab.addEventListener("click", () => this.#choose(tab));
    }
    const { jobs, faults } = scene.head;
    byId("tab-jobs").hidden = jobs.length === 0;
    byId("tab-faults").hidden = faults.length === 0;
    this.#choose(byId(jobs.length > 0 ? "tab-jobs" : "tab-flows"));
  }

  // Shows what is selected; with nothing selected the whole network.
  show(selected, k) {
    const { title, about, facts, strips, more } = detail(this.scene, selected, this);
    byId("selected-title").textContent = title;
    byId("clear").hidden = selected == null;
    byId("about").textContent = about;
    this.facts = facts.map(([label, value]) => ({ value, cell: element("dd"), label }));
    byId("facts").replaceChildren(...this.facts.flatMap(({ label, cell }) => [element("dt", { textContent: label }), cell]));
    this.strips = strips.filter(({ values }) => values.some((value) => value > 0)).map((strip) => this.#strip(strip));
    byId("strips").replaceChildren(...this.strips.map(({ figure }) => figure));
    byId("more").replaceChildren(...more);
    this.selected = selected;
    if (byId("tab-flows").ariaSelected === "true") this.lists.flows();
    this.update(k);
  }

  update(k) {
    for (const { cell, value } of this.facts) {
      const text = value(k);
      if (cell.textContent !== text) cell.textContent = text;
    }
    for (const { strip, now, values, unit } of this.strips) {
      strip.draw(k);
      now.textContent = unit(values[k]);
    }
  }

  #strip({ title, values, unit, most, colour }) {
    const canvas = element("canvas", { className: "strip" });
    const now = element("b");
    const strip = new Strip(canvas, values, { colour, most, samples: this.scene.samples, onSeek: this.onSeek });
    const largest = most === 1 ? "100 %" : unit(strip.most);
    const caption = element("figcaption", {}, `${title}: `, now, element("span", { textContent: `top ${largest}` }));
    return { strip, now, values, unit, figure: element("figure", {}, caption, canvas) };
  }

  #choose(tab) {
    for (const other of document.querySelectorAll("[role=tab]")) other.ariaSelected = String(other === tab);
    byId("list").setAttribute("aria-labelledby", tab.id);
    this.lists[tab.dataset.list]();
  }

  choice(name, ...cells) {
    const button = element("button", { type: "button", className: "row" });
    button.append(...cells.map((text) => element("span", { textContent: text })));
    button.addEventListener("click", () => this.onSelect(this.scene.find(name)));
    return element("li", {}, button);
  }

  // The flows of what is selected, or all: those that are not complete first, then by slowdown.
  #flows() {
    const { flows, head } = this.scene;
    const host = this.selected?.kind === "node" && this.scene.isHost(this.selected.number) ? this.selected.number : null;
    const all = flows.of(host);
    const rank = (flow) => (Number.isFinite(flows.slowdown[flow]) ? flows.slowdown[flow] : Number.MAX_VALUE);
    all.sort((one, other) => rank(other) - rank(one) || one - other);
    const shown = all.slice(0, LISTED).map((flow) => {
      const ends = `${head.nodes[flows.from[flow]]} to ${head.nodes[flows.to[flow]]}`;
      const took = Number.isFinite(flows.fct[flow]) ? inTime(flows.fct[flow]) : flows.bytes[flow] ? "unfinished" : "no size";
      return this.choice(`flow:${flow}`, `${flow}`, ends, took);
    });
    const of = host == null ? "" : ` of ${head.nodes[host]}`;
    const rest = all.length > LISTED ? `; ${LISTED} are shown, others by flow:NUMBER above` : "";
    this.#list(`${inCount(all.length)} ${all.length === 1 ? "flow" : "flows"}${of}, slowest for its size first${rest}.`, shown);
  }

  #jobs() {
    const rows = this.scene.head.jobs.map(({ name, hosts, iterations_us: ended }, number) =>
      this.choice(`job:${number}`, name, `${hosts.length} hosts`, `${ended.length} iterations`),
    );
    this.#list("Hosts of a job are pointed out in the drawing.", rows);
  }

  #faults() {
    const rows = this.scene.faults.map(({ kind, place, at_us: at, until_us: until }) => {
      const button = element("button", { type: "button", className: "row" });
      const times = `${inTime(at)} to ${until == null ? "the end" : inTime(until)}`;
      button.append(...[kind, place, times].map((text) => element("span", { textContent: text })));
      button.addEventListener("click", () => this.onSeek(this.scene.samples.at(at + 1e-3)));
      return element("li", {}, button);
    });
    this.#list("A click goes to the moment at which it began.", rows);
  }

  #list(note, rows) {
    byId("list-note").textContent = note;
    byId("rows").replaceChildren(...rows);
  }
}
