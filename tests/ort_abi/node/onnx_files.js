// As much of ONNX's protobuf messages as tests need: small models are written, test data is read.
'use strict';

const BYTES = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8};

// ---- Writing

function varint(value) {
  const out = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    out.push(rest ? low | 128 : low);
  } while (rest);
  return Buffer.from(out);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
function bytes(field, value) {
  const data = Buffer.isBuffer(value) ? value : Buffer.from(value);
  return Buffer.concat([varint((field << 3) | 2), varint(data.length), data]);
}
const message = (field, parts) => bytes(field, Buffer.concat(parts));

// dims: numbers, names, or null for a dim that nothing is known of.
function valueInfo(field, {name, type, dims}) {
  const shape = dims.map((dim) => {
    if (dim === null) return message(1, []);
    return message(1, [typeof dim === 'number' ? number(1, dim) : bytes(2, dim)]);
  });
  return message(field, [bytes(1, name), message(2, [message(1, [number(1, type), message(2, shape)])])]);
}
const node = ({op, inputs, outputs, attributes = [], domain = ''}) =>
    message(1, [...inputs.map((name) => bytes(1, name)), ...outputs.map((name) => bytes(2, name)), bytes(4, op),
                ...attributes, bytes(7, domain)]);

// domains: those of operators that are not ONNX's own; metadata: {key: value}.
function model({nodes, inputs, outputs, domains = [], metadata = {}, opset = 17}) {
  const graph = [...nodes.map(node), bytes(2, 'tested'), ...inputs.map((value) => valueInfo(11, value)),
                 ...outputs.map((value) => valueInfo(12, value))];
  const properties = Object.entries(metadata).map(([key, value]) => message(14, [bytes(1, key), bytes(2, value)]));
  return Buffer.concat([number(1, 8), bytes(2, 'sardonyx tests'), message(7, graph), message(8, [number(2, opset)]),
                        ...domains.map((domain) => message(8, [bytes(1, domain), number(2, 1)])), ...properties]);
}

// ---- Reading

function fields(data) {
  const found = {};
  let at = 0;
  const read = () => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = data[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < data.length) {
    const key = Number(read());
    let value;
    if ((key & 7) === 0) {
      value = read();
    } else {
      const size = (key & 7) === 2 ? Number(read()) : (key & 7) === 5 ? 4 : 8;
      value = data.subarray(at, at + size);
      at += size;
    }
    (found[key >> 3] ??= []).push(value);
  }
  return found;
}

function varints(entries = []) {
  const values = [];
  for (const entry of entries) {
    if (typeof entry === 'bigint') {
      values.push(BigInt.asIntN(64, entry));
      continue;
    }
    let value = 0n, shift = 0n;
    for (const byte of entry) {
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
      if (byte < 128) {
        values.push(BigInt.asIntN(64, value));
        value = shift = 0n;
      }
    }
  }
  return values;
}

const ARRAYS = {1: Float32Array, 2: Uint8Array, 3: Int8Array, 4: Uint16Array, 5: Int16Array, 6: Int32Array,
                7: BigInt64Array, 9: Uint8Array, 10: Uint16Array, 11: Float64Array, 12: Uint32Array, 13: BigUint64Array};

// {type, dims, data} of a TensorProto: a typed array, or strings. Null where it is of a type that is not read.
function tensor(file) {
  const message = fields(file);
  const type = Number(message[2]?.[0] ?? 0n);
  const dims = varints(message[1]).map(Number);
  if (type === 8) return {type, dims, data: (message[6] ?? []).map((text) => text.toString())};
  const array = ARRAYS[type];
  if (!array) return null;
  const count = dims.reduce((a, b) => a * b, 1);
  const raw = message[9]?.[0];
  if (raw) return {type, dims, data: new array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + count * BYTES[type]))};
  const typed = {1: 4, 11: 10}[type];  // float_data, double_data
  if (typed) {
    const all = Buffer.concat(message[typed] ?? []);
    return {type, dims, data: new array(all.buffer.slice(all.byteOffset, all.byteOffset + all.length))};
  }
  const values = varints(message[{7: 7, 12: 11, 13: 11}[type] ?? 5]);
  return {type, dims, data: array.from(values, BYTES[type] === 8 ? (value) => value : Number)};
}

module.exports = {model, tensor};
