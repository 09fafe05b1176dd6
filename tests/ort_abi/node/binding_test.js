// What programs do with onnxruntime-node: every element type, metadata, options, errors, outputs in memory of the caller's,
// worker threads. Run by `run`.
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const {Worker, isMainThread, workerData, parentPort} = require('node:worker_threads');
const ort = require('onnxruntime-node');
const {model} = require('./onnx_files.js');

const TYPES = [
  ['float32', 1, Float32Array.of(1.5, -2, Infinity)],
  ['uint8', 2, Uint8Array.of(0, 128, 255)],
  ['int8', 3, Int8Array.of(-128, 0, 127)],
  ['uint16', 4, Uint16Array.of(0, 1, 65535)],
  ['int16', 5, Int16Array.of(-32768, 0, 32767)],
  ['int32', 6, Int32Array.of(-2147483648, 0, 2147483647)],
  ['int64', 7, BigInt64Array.of(-(2n ** 63n), 0n, 2n ** 63n - 1n)],
  ['string', 8, ['', 'plain', 'straße 🐟']],
  ['bool', 9, Uint8Array.of(1, 0, 1)],
  ['float16', 10, Uint16Array.of(0x3c00, 0xc000, 0)],
  ['float64', 11, Float64Array.of(Math.PI, -0, 1e300)],
  ['uint32', 12, Uint32Array.of(0, 1, 4294967295)],
  ['uint64', 13, BigUint64Array.of(0n, 1n, 2n ** 64n - 1n)],
];

const identity = (type, dims = ['n', 3]) =>
    model({nodes: [{op: 'Identity', inputs: ['x'], outputs: ['y']}], inputs: [{name: 'x', type, dims}],
           outputs: [{name: 'y', type, dims}]});
const sum = (dims = [1, 3]) =>
    model({nodes: [{op: 'Add', inputs: ['a', 'b'], outputs: ['c']}], inputs: [{name: 'a', type: 1, dims},
           {name: 'b', type: 1, dims}], outputs: [{name: 'c', type: 1, dims}]});
const floats = (...values) => new ort.Tensor('float32', Float32Array.from(values), [1, values.length]);

async function refused(work, expected) {
  await assert.rejects(work, (error) => {
    assert.ok(error.message.includes(expected), `expected "${expected}" in "${error.message}"`);
    return true;
  });
}

const tests = {
  async 'every element type comes back as it went'() {
    for (const [name, number, data] of TYPES) {
      const session = await ort.InferenceSession.create(identity(number));
      const {y} = await session.run({x: new ort.Tensor(name, data, [1, 3])});
      assert.strictEqual(y.type, name);
      assert.deepStrictEqual(y.dims, [1, 3], name);
      assert.deepStrictEqual(Array.from(y.data), Array.from(data), name);
      await session.release();
    }
  },

  async 'outputs are not changed by what is done to inputs or to each other'() {
    const session = await ort.InferenceSession.create(identity(1));
    const x = floats(1, 2, 3);
    const first = (await session.run({x})).y, second = (await session.run({x})).y;
    x.data[0] = 7;
    first.data[1] = 8;
    assert.deepStrictEqual(Array.from(first.data), [1, 8, 3]);
    assert.deepStrictEqual(Array.from(second.data), [1, 2, 3]);
  },

  async 'names, types and shapes are known'() {
    const session = await ort.InferenceSession.create(identity(7, ['batch', null, 4]));
    assert.deepStrictEqual(session.inputNames, ['x']);
    assert.deepStrictEqual(session.outputNames, ['y']);
    const [input] = session.inputMetadata, [output] = session.outputMetadata;
    assert.strictEqual(input.isTensor, true);
    assert.strictEqual(input.type, 'int64');
    assert.strictEqual(input.shape[0], 'batch');
    assert.strictEqual(input.shape[2], 4);
    assert.deepStrictEqual(output.shape, input.shape);
  },

  async 'an empty tensor and a scalar'() {
    const session = await ort.InferenceSession.create(identity(1, [null]));
    const {y} = await session.run({x: new ort.Tensor('float32', new Float32Array(0), [0])});
    assert.deepStrictEqual(y.dims, [0]);
    const scalar = await ort.InferenceSession.create(identity(1, []));
    assert.deepStrictEqual((await scalar.run({x: new ort.Tensor('float32', [5], [])})).y.dims, []);
  },

  async 'an output is written where the caller wants it'() {
    const session = await ort.InferenceSession.create(sum());
    const memory = new Float32Array(3);
    const c = new ort.Tensor('float32', memory, [1, 3]);
    await session.run({a: floats(1, 2, 3), b: floats(10, 20, 30)}, {c});
    assert.deepStrictEqual(Array.from(memory), [11, 22, 33]);
    await refused(session.run({a: floats(1, 2, 3), b: floats(1, 2, 3)},
                              {c: new ort.Tensor('float32', new Float32Array(4), [1, 4])}),
                  'Got invalid dimensions for output: c');
  },

  async 'a part of the outputs'() {
    const both = model({nodes: [{op: 'Abs', inputs: ['x'], outputs: ['y']}, {op: 'Neg', inputs: ['x'], outputs: ['z']}],
                        inputs: [{name: 'x', type: 1, dims: [1, 3]}],
                        outputs: [{name: 'y', type: 1, dims: [1, 3]}, {name: 'z', type: 1, dims: [1, 3]}]});
    const session = await ort.InferenceSession.create(both);
    const result = await session.run({x: floats(-1, 2, -3)}, ['z']);
    assert.deepStrictEqual(Object.keys(result), ['z']);
    assert.deepStrictEqual(Array.from(result.z.data), [1, -2, 3]);
  },

  async 'errors say what is wrong'() {
    await refused(ort.InferenceSession.create('there is no such file'), "File doesn't exist");
    await refused(ort.InferenceSession.create(Buffer.from('this is no model, whatever it is')), 'protobuf parsing failed');
    await refused(ort.InferenceSession.create(Buffer.from([8, 8])), 'No graph was found in the protobuf');
    const unknown = model({nodes: [{op: 'Teleport', domain: 'far', inputs: ['x'], outputs: ['y']}],
                           inputs: [{name: 'x', type: 1, dims: [1]}], outputs: [{name: 'y', type: 1, dims: [1]}],
                           domains: ['far']});
    await refused(ort.InferenceSession.create(unknown), 'far:Teleport(-1) is not a registered function/op');
    const session = await ort.InferenceSession.create(sum());
    const a = floats(1, 2, 3);
    await refused(session.run({a, b: new ort.Tensor('int32', [1, 2, 3], [1, 3])}),
                  'Unexpected input data type. Actual: (tensor(int32)) , expected: (tensor(float))');
    await refused(session.run({a, b: new ort.Tensor('float32', [1, 2, 3], [3])}), 'Invalid rank for input: b');
    await refused(session.run({a, b: floats(1, 2)}), 'index: 1 Got: 2 Expected: 3');
    const {c} = await session.run({a, b: a});
    assert.deepStrictEqual(Array.from(c.data), [2, 4, 6]);
  },

  async 'options are taken'() {
    for (const options of [
           {intraOpNumThreads: 1, interOpNumThreads: 2, graphOptimizationLevel: 'disabled', enableCpuMemArena: false,
            enableMemPattern: false, executionMode: 'parallel', logId: 'tested', logSeverityLevel: 3},
           {graphOptimizationLevel: 'basic', executionProviders: ['cpu']},
           {graphOptimizationLevel: 'all', extra: {session: {intra_op: {allow_spinning: '0'}}}},
         ]) {
      const session = await ort.InferenceSession.create(sum(), options);
      const {c} = await session.run({a: floats(1, 2, 3), b: floats(1, 1, 1)}, {logSeverityLevel: 3, tag: 'a tag'});
      assert.deepStrictEqual(Array.from(c.data), [2, 3, 4]);
    }
  },

  async 'the optimised model is written'() {
    const session = await ort.InferenceSession.create(sum(), {optimizedModelFilePath: 'optimised.onnx'});
    await session.release();
    const again = await ort.InferenceSession.create('optimised.onnx');
    assert.deepStrictEqual(Array.from((await again.run({a: floats(1, 2, 3), b: floats(1, 1, 1)})).c.data), [2, 3, 4]);
  },

  async 'a profile is written'() {
    const session = await ort.InferenceSession.create(sum(), {enableProfiling: true, profileFilePrefix: 'tested'});
    await session.run({a: floats(1, 2, 3), b: floats(1, 1, 1)});
    session.endProfiling();
    const [file] = fs.readdirSync('.').filter((name) => name.startsWith('tested') && name.endsWith('.json'));
    const names = JSON.parse(fs.readFileSync(file)).map((event) => event.name);
    assert.ok(names.includes('model_run') && names.some((name) => name.endsWith('_kernel_time')), names);
  },

  async 'many runs at once'() {
    const session = await ort.InferenceSession.create(sum());
    const runs = Array.from({length: 50}, (_, i) => session.run({a: floats(i, i, i), b: floats(1, 2, 3)}));
    (await Promise.all(runs)).forEach(({c}, i) => assert.deepStrictEqual(Array.from(c.data), [i + 1, i + 2, i + 3]));
  },

  async 'worker threads load and run'() {
    const workers = Array.from({length: 3}, (_, i) => new Promise((resolve, reject) => {
      const worker = new Worker(__filename, {workerData: i});
      worker.on('message', resolve).on('error', reject);
    }));
    assert.deepStrictEqual(await Promise.all(workers), [1, 2, 3]);
  },
};

async function main() {
  if (!isMainThread) {
    const session = await ort.InferenceSession.create(sum());
    const {c} = await session.run({a: floats(workerData, 0, 0), b: floats(1, 0, 0)});
    parentPort.postMessage(c.data[0]);
    return;
  }
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log('ok    ', name);
    } catch (error) {
      ++failed;
      console.log('FAILED', name, '\n', error);
    }
  }
  console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}
main();
