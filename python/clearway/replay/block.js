// The block of data: base64 of zlib of a head and of columns. packing.py writes it.

const bytesOf = (text) => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
};

const inflated = (bytes) =>
  new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();

// A whole column has a plane for each byte of its numbers, the least significant first.
const wholeColumn = (bytes, offset, rows, planes) => {
  const values = planes > 4 ? new Float64Array(rows) : new Uint32Array(rows);
  for (let plane = planes - 1; plane >= 0; plane--) {
    const start = offset + plane * rows;
    for (let row = 0; row < rows; row++) values[row] = values[row] * 256 + bytes[start + row];
  }
  return values;
};

const floatColumn = (buffer, offset, rows) => {
  const view = new DataView(buffer, offset, rows * 8);
  return Float64Array.from({ length: rows }, (_, row) => view.getFloat64(row * 8, true));
};

// Returns the head and the columns by name.
const unpacked = async (text) => {
  const buffer = await inflated(bytesOf(text));
  const bytes = new Uint8Array(buffer);
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const columns = {};
  let offset = 4 + length;
  for (const { name, rows, planes, floats } of head.columns) {
    columns[name] = floats ? floatColumn(buffer, offset, rows) : wholeColumn(bytes, offset, rows, planes);
    offset += rows * (floats ? 8 : planes);
  }
  return { head, columns };
};
