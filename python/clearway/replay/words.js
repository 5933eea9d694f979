// Numbers in words, with their units.

const FOUR_DIGITS = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const THREE_DIGITS = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const WHOLE = new Intl.NumberFormat("en");

const inUnits = (value, units) => {
  const [size, unit] = units.find(([least]) => Math.abs(value) >= least) ?? units.at(-1);
  return `${FOUR_DIGITS.format(value / size)} ${unit}`;
};

const TIMES = [[1e6, "s"], [1e3, "ms"], [1, "us"], [1e-3, "ns"]];
const SIZES = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
const RATES = [[1e3, "Tb/s"], [1, "Gb/s"], [1e-3, "Mb/s"], [1e-6, "kb/s"]];

const inTime = (us) => (us === 0 ? "0 us" : Number.isFinite(us) ? inUnits(us, TIMES) : "–");
const inBytes = (bytes) => (bytes === 0 ? "0 B" : inUnits(bytes, SIZES));
const inRate = (gbps) => (gbps === 0 ? "0 b/s" : inUnits(gbps, RATES));
const inPercent = (share) => `${THREE_DIGITS.format(100 * share)} %`;
const inCount = (count) => WHOLE.format(count);

// A time in the form of a scenario, such as 1.25ms, and back; NaN for what is none.
const asKey = (us) => {
  const [size, unit] = us === 0 ? [1, "us"] : TIMES.find(([least]) => us >= least) ?? TIMES.at(-1);
  return `${Number((us / size).toPrecision(12))}${unit}`;
};
const fromKey = (text) => {
  const found = /^([0-9.]+)(s|ms|us|ns)$/.exec(text ?? "");
  return found ? Number(found[1]) * TIMES.find(([, unit]) => unit === found[2])[0] : Number.NaN;
};

const element = (name, properties = {}, ...inside) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...inside);
  return made;
};

const byId = (id) => document.getElementById(id);
