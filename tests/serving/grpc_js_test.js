#!/usr/bin/env node
// Drives onnx-serve over gRPC as a program in JavaScript does, by another implementation of the protocol than the server's.
//
//     npm install @grpc/grpc-js @grpc/proto-loader grpc-health-check
//     tests/serving/grpc_js_test.js PORT SCHEMA_FOLDER
//
// PORT is that of gRPC, of a server with Triton's example models (shared/oip/triton_examples); SCHEMA_FOLDER has the published
// schema, triton_grpc_service.proto and what it imports, under the names that it imports them by. Run it where the packages are.
"use strict";
const assert = require("assert");
const path = require("path");
const { createRequire } = require("module");
const load = createRequire(path.join(process.cwd(), "x.js"));
const grpc = load("@grpc/grpc-js");
const loader = load("@grpc/proto-loader");
const health = load("grpc-health-check");

const [port, folder] = process.argv.slice(2);
const options = { keepCase: true, longs: Number, enums: String, defaults: true, includeDirs: [folder] };
const schema = grpc.loadPackageDefinition(loader.loadSync("grpc_service.proto", options));
const address = `127.0.0.1:${port}`;
const client = new schema.inference.GRPCInferenceService(address, grpc.credentials.createInsecure());
const call = (method, request, settings = {}) => new Promise((done, failed) =>
  client[method](request, new grpc.Metadata(), settings, (error, answer) => error ? failed(error) : done(answer)));
const refused = (code, method, request, settings) => call(method, request, settings).then(
  () => assert.fail(`${method} was not refused`), error => { assert.strictEqual(error.code, code, error.message); return error; });

const a = Int32Array.from({ length: 16 }, (_, i) => i), b = new Int32Array(16).fill(1);
const bytes = array => Buffer.from(array.buffer);
const numbers = raw => new Int32Array(new Uint8Array(raw).buffer);
const request = (id = "") => ({
  model_name: "simple", id,
  inputs: ["INPUT0", "INPUT1"].map(name => ({ name, datatype: "INT32", shape: [1, 16] })),
  raw_input_contents: [bytes(a), bytes(b)],
});
function check(answer) {
  const at = Object.fromEntries(answer.outputs.map((one, i) => [one.name, numbers(answer.raw_output_contents[i])]));
  assert.deepStrictEqual([...at.OUTPUT0], [...a].map((v, i) => v + b[i]));
  assert.deepStrictEqual([...at.OUTPUT1], [...a].map((v, i) => v - b[i]));
}

async function main() {
  assert.strictEqual((await call("ServerLive", {})).live, true);
  assert.strictEqual((await call("ServerReady", {})).ready, true);
  const server = await call("ServerMetadata", {});
  assert(server.extensions.includes("binary_tensor_data"));
  const metadata = await call("ModelMetadata", { name: "simple" });
  assert.deepStrictEqual(metadata.inputs.map(one => [one.name, one.datatype, one.shape]),
    [["INPUT0", "INT32", [-1, 16]], ["INPUT1", "INT32", [-1, 16]]]);
  assert.strictEqual((await call("ModelConfig", { name: "simple" })).config.max_batch_size, 8);

  check(await call("ModelInfer", request()));
  const typed = request();
  delete typed.raw_input_contents;
  typed.inputs.forEach((one, i) => { one.contents = { int_contents: [...[a, b][i]] }; });
  check(await call("ModelInfer", typed));
  const strings = request();
  strings.model_name = "simple_string";
  delete strings.raw_input_contents;
  strings.inputs.forEach((one, i) => {
    one.datatype = "BYTES";
    one.contents = { bytes_contents: [...[a, b][i]].map(v => Buffer.from(String(v))) };
  });
  const text = await call("ModelInfer", strings);
  const first = text.raw_output_contents[text.outputs.findIndex(one => one.name === "OUTPUT0")];
  assert.strictEqual(first.readUInt32LE(0), 1);
  assert.strictEqual(first.toString("utf8", 4, 5), "1");

  await refused(grpc.status.NOT_FOUND, "ModelInfer", { ...request(), model_name: "absent" });
  await refused(grpc.status.NOT_FOUND, "ModelMetadata", { name: "absent" });
  await refused(grpc.status.INVALID_ARGUMENT, "ModelInfer", { ...request(), raw_input_contents: [bytes(a)] });
  await refused(grpc.status.UNIMPLEMENTED, "CudaSharedMemoryStatus", {});
  await refused(grpc.status.DEADLINE_EXCEEDED, "ModelInfer", request(), { deadline: Date.now() - 1 });

  // Answers, an error in between, and the end.
  const seen = {};
  await new Promise((done, failed) => {
    const stream = client.ModelStreamInfer();
    stream.on("data", one => { seen[one.infer_response.id] = one; });
    stream.on("end", done);
    stream.on("error", failed);
    for (let i = 0; i < 20; ++i) stream.write(i === 7 ? { ...request("7"), model_name: "absent" } : request(String(i)));
    stream.end();
  });
  assert.strictEqual(Object.keys(seen).length, 20);
  for (const [id, one] of Object.entries(seen)) {
    assert.strictEqual(one.infer_response.parameters.triton_final_response.bool_param, true);
    if (id === "7") assert.match(one.error_message, /unknown model/); else check(one.infer_response);
  }
  const strict = new grpc.Metadata();
  strict.set("triton_grpc_error", "true");
  const error = await new Promise((done, failed) => {
    const stream = client.ModelStreamInfer(strict);
    stream.on("data", () => {});
    stream.on("error", done);
    stream.on("end", () => failed(new Error("the stream did not fail")));
    stream.write({ ...request(), model_name: "absent" });
  });
  assert.strictEqual(error.code, grpc.status.NOT_FOUND);

  // grpc.health.v1, by the published package's schema.
  const Health = grpc.loadPackageDefinition(loader.loadSync(health.protoPath, options)).grpc.health.v1.Health;
  const prober = new Health(address, grpc.credentials.createInsecure());
  const status = await new Promise((done, failed) =>
    prober.check({ service: "" }, (why, answer) => why ? failed(why) : done(answer.status)));
  assert.strictEqual(status, "SERVING");
  const watched = await new Promise((done, failed) => {
    const watch = prober.watch({ service: "inference.GRPCInferenceService" });
    watch.on("data", answer => { watch.cancel(); done(answer.status); });
    watch.on("error", failed);
  });
  assert.strictEqual(watched, "SERVING");
  await new Promise((done, failed) => prober.check({ service: "absent" }, why =>
    why && why.code === grpc.status.NOT_FOUND ? done() : failed(why || new Error("absent is served"))));
  prober.close();
  client.close();
  console.log("ok");
}

main().catch(error => { console.error(error); process.exit(1); });
