// models_test.js FOLDER: runs models with test data, FOLDER/NAME/model.onnx with test_data_set_K/{input,output}_J.pb, and
// compares all outputs that are tensors with what is expected. MANIFEST.csv has tolerances. Run by `run`.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const ort = require('onnxruntime-node');
const {tensor} = require('./onnx_files.js');

const NAMES = [, 'float32', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'string', 'bool', 'float16', 'float64',
               'uint32', 'uint64'];

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

function numbersOf(type, data) {
  return Array.from(data, (value) => (type === 10 && typeof value === 'number' && !(data instanceof Float32Array) &&
                                      data.constructor.name !== 'Float16Array' ? half(value) : Number(value)));
}

function difference(expected, got, [rtol, atol, ofMax]) {
  if (NAMES[expected.type] !== got.type) return `type ${got.type}, expected ${NAMES[expected.type]}`;
  if (String(expected.dims) !== String(got.dims)) return `dims ${got.dims}, expected ${expected.dims}`;
  if (![1, 10, 11].includes(expected.type)) {
    const at = Array.from(expected.data).findIndex((value, i) => String(value) !== String(got.data[i]));
    return at < 0 ? '' : `element ${at}: ${got.data[at]}, expected ${expected.data[at]}`;
  }
  const wanted = numbersOf(expected.type, expected.data), values = numbersOf(expected.type, got.data);
  const most = wanted.reduce((a, b) => Math.max(a, Number.isFinite(b) ? Math.abs(b) : 0), 0);
  for (let i = 0; i < wanted.length; ++i) {
    if (Object.is(wanted[i], values[i]) || wanted[i] === values[i]) continue;
    if (Math.abs(values[i] - wanted[i]) <= atol + rtol * Math.abs(wanted[i]) + ofMax * most) continue;
    return `element ${i}: ${values[i]}, expected ${wanted[i]}`;
  }
  return '';
}

async function runSet(session, folder, tolerances) {
  const feeds = {};
  session.inputNames.forEach((name, i) => {
    const {type, dims, data} = tensor(fs.readFileSync(path.join(folder, `input_${i}.pb`)));
    feeds[name] = new ort.Tensor(NAMES[type], data, dims);
  });
  const tensors = session.outputNames.filter((_, i) => session.outputMetadata[i].isTensor);
  const results = await session.run(feeds, tensors);
  for (const name of tensors) {
    const file = path.join(folder, `output_${session.outputNames.indexOf(name)}.pb`);
    const problem = difference(tensor(fs.readFileSync(file)), results[name], tolerances);
    if (problem) return `${path.basename(folder)}: output ${name}: ${problem}`;
  }
  return '';
}

async function runModel(folder, tolerances) {
  const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'));
  for (const set of fs.readdirSync(folder).filter((name) => name.startsWith('test_data_set_'))) {
    const problem = await runSet(session, path.join(folder, set), tolerances);
    if (problem) return problem;
  }
  await session.release();
  return '';
}

async function main(root) {
  const manifest = fs.readFileSync(path.join(root, 'MANIFEST.csv'), 'utf8').trim().split('\n').slice(1);
  let failed = 0, passed = 0;
  for (const row of manifest) {
    const [name, ...tolerances] = row.split(',');
    let problem;
    try {
      problem = await runModel(path.join(root, name), tolerances.map(Number));
    } catch (error) {
      problem = error.message;
    }
    problem ? ++failed : ++passed;
    if (problem) console.log('FAILED', name, problem);
  }
  console.log(`${passed} models passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}
main(process.argv[2]);
