#!/usr/bin/python3
"""Drives onnx-serve as a client in another language does: over HTTP with the standard library, over gRPC with grpcio
and stubs made from a schema, by default the published one of SARDONYX_TEST_DATA.

    tests/serving/clients_test.py [--server build/bin/onnx-serve] [unittest's arguments]

Needs Debian's python3-grpcio, python3-numpy, python3-onnx, protobuf-compiler-grpc.
"""
import base64
import gzip
import http.client
import json
import os
import queue
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from multiprocessing import shared_memory

os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
import grpc
import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SERVER = os.path.join(ROOT, "build/bin/onnx-serve")
DATA = os.environ.get("SARDONYX_TEST_DATA", os.path.join(ROOT, "../shared"))
EXAMPLES = os.path.join(DATA, "oip/triton_examples")

TYPES = {
    "BOOL": (TensorProto.BOOL, np.bool_), "UINT8": (TensorProto.UINT8, np.uint8),
    "UINT16": (TensorProto.UINT16, np.uint16), "UINT32": (TensorProto.UINT32, np.uint32),
    "UINT64": (TensorProto.UINT64, np.uint64), "INT8": (TensorProto.INT8, np.int8),
    "INT16": (TensorProto.INT16, np.int16), "INT32": (TensorProto.INT32, np.int32),
    "INT64": (TensorProto.INT64, np.int64), "FP16": (TensorProto.FLOAT16, np.float16),
    "FP32": (TensorProto.FLOAT, np.float32), "FP64": (TensorProto.DOUBLE, np.float64),
    "BYTES": (TensorProto.STRING, np.object_), "BF16": (TensorProto.BFLOAT16, np.uint16),
}
CONTENTS = {
    "BOOL": "bool_contents", "UINT8": "uint_contents", "UINT16": "uint_contents", "UINT32": "uint_contents",
    "UINT64": "uint64_contents", "INT8": "int_contents", "INT16": "int_contents", "INT32": "int_contents",
    "INT64": "int64_contents", "FP32": "fp32_contents", "FP64": "fp64_contents", "BYTES": "bytes_contents",
}


def save_model(path, op="Identity", elem=TensorProto.FLOAT, dims=("batch", "n"), constant=None):
    """y = op(x), or x + constant."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    x, y = (helper.make_tensor_value_info(name, elem, list(dims)) for name in "xy")
    initializers, inputs = [], ["x"]
    if constant is not None:
        initializers.append(helper.make_tensor("c", elem, [1], [constant]))
        inputs, op = ["x", "c"], "Add"
    graph = helper.make_graph([helper.make_node(op, inputs, ["y"])], "g", [x], [y], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8), path)


def to_binary(array, datatype):
    if datatype != "BYTES":
        return array.tobytes()
    return b"".join(struct.pack("<I", len(one)) + one for one in array.reshape(-1))


def from_binary(data, datatype, shape):
    if datatype != "BYTES":
        return np.frombuffer(data, TYPES[datatype][1]).reshape(shape)
    values, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        values.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return np.array(values, np.object_).reshape(shape)


def samples(datatype):
    if datatype == "BYTES":
        return np.array([[b"", b"a b", "ä\n\"\\".encode()]], np.object_)
    if datatype == "BOOL":
        return np.array([[True, False, True]])
    if datatype == "BF16":  # 1, -2, 0.5
        return np.array([[0x3F80, 0xC000, 0x3F00]], np.uint16)
    dtype = TYPES[datatype][1]
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return np.array([[info.min, 1, info.max]], dtype)
    return np.array([[0.1, -2.5, 3e4]], dtype)


def stubs(folder):
    """Makes the messages and stubs of the published schema in the folder: pb, service and health."""
    published = os.path.join(DATA, "oip/triton_grpc_service.proto")
    names = {"triton_grpc_service.proto": "grpc_service.proto", "triton_model_config.proto": "model_config.proto",
             "triton_health.proto": "health.proto"}
    if not os.path.exists(published):
        raise unittest.SkipTest("no published schema in SARDONYX_TEST_DATA")
    for source, name in names.items():
        shutil.copy(os.path.join(DATA, "oip", source), os.path.join(folder, name))
    plugin = shutil.which("grpc_python_plugin")
    subprocess.run(["protoc", f"-I{folder}", f"--python_out={folder}", f"--grpc_out={folder}",
                    f"--plugin=protoc-gen-grpc={plugin}", *names.values()], check=True, cwd=folder)
    sys.path.insert(0, folder)
    global pb, service, health
    import grpc_service_pb2 as pb
    import grpc_service_pb2_grpc as service
    import health_pb2_grpc as health


class Server:
    def __init__(self, *arguments, drain_delay=0):
        self.folder = tempfile.mkdtemp()
        port_file = os.path.join(self.folder, "ports")
        self.log = os.path.join(self.folder, "log")
        self.process = subprocess.Popen(
            [SERVER, *arguments, "--http-port=0", "--grpc-port=0", "--metrics-port=0", f"--port-file={port_file}",
             f"--log-file={self.log}", f"--drain-delay={drain_delay}"])
        ports = ""
        while not ports.endswith("\n"):
            if self.process.poll() is not None:
                raise RuntimeError(f"the server has ended with {self.process.returncode}, its log is {self.log}")
            time.sleep(0.01)
            if os.path.exists(port_file):
                with open(port_file) as file:
                    ports = file.read()
        self.http, self.grpc, self.metrics = (int(port) for port in ports.split())
        self.connection = http.client.HTTPConnection("127.0.0.1", self.http)
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.grpc}")

    def stop(self):
        self.channel.close()
        self.connection.close()
        self.process.terminate()
        code = self.process.wait(timeout=30)
        shutil.rmtree(self.folder)
        return code

    def ask(self, method, path, body=None, headers=None):
        if isinstance(body, dict):
            body = json.dumps(body)
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        return answer, answer.read()

    def call(self, method, path, body=None, status=200):
        answer, data = self.ask(method, path, body)
        if answer.status != status:
            raise AssertionError(f"{method} {path}: {answer.status} {data}")
        return json.loads(data) if data else None

    def infer(self, model, inputs, outputs=None, binary=True, headers=None, **parameters):
        """inputs: {name: (datatype, array)}; gives {name: array}, as the header says it."""
        request, tail = {"inputs": [], "parameters": dict(parameters)}, b""
        for name, (datatype, array) in inputs.items():
            one = {"name": name, "datatype": datatype, "shape": list(array.shape)}
            if binary:
                data = to_binary(array, datatype)
                one["parameters"] = {"binary_data_size": len(data)}
                tail += data
            else:
                flat = array.reshape(-1)
                one["data"] = [v.decode() for v in flat] if datatype == "BYTES" else flat.tolist()
            request["inputs"].append(one)
        if outputs is None:
            request["parameters"]["binary_data_output"] = binary
        else:
            request["outputs"] = outputs
        head = json.dumps(request).encode()
        fields = dict(headers or {})
        if binary:
            fields["Inference-Header-Content-Length"] = str(len(head))
        body = head + tail
        if fields.get("Content-Encoding") == "gzip":
            body = gzip.compress(body)
        answer, data = self.ask("POST", f"/v2/models/{model}/infer", body, fields)
        if answer.status != 200:
            raise RuntimeError(json.loads(data)["error"])
        return self.outputs(answer, data)

    @staticmethod
    def outputs(answer, data):
        size = int(answer.headers.get("Inference-Header-Content-Length", len(data)))
        head, at, result = json.loads(data[:size]), size, {}
        for one in head["outputs"]:
            parameters = one.get("parameters", {})
            if "binary_data_size" in parameters:
                end = at + parameters["binary_data_size"]
                result[one["name"]] = from_binary(data[at:end], one["datatype"], one["shape"])
                at = end
            elif "data" in one:
                values = [v.encode() for v in one["data"]] if one["datatype"] == "BYTES" else one["data"]
                integer = "INT" in one["datatype"]
                dtype = TYPES[one["datatype"]][1] if integer or one["datatype"] == "BYTES" else None
                result[one["name"]] = np.array(values, dtype).reshape(one["shape"])
        if at != len(data):
            raise AssertionError(f"{len(data) - at} bytes are left over")
        return result


class ServerCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        stubs(cls.folder)
        cls.models = os.path.join(cls.folder, "models")
        os.makedirs(cls.models)
        cls.server = None

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop() if cls.server else 0
        sys.path.remove(cls.folder)
        shutil.rmtree(cls.folder)
        assert code == 0, code

    @property
    def stub(self):
        return service.GRPCInferenceServiceStub(self.server.channel)

    def grpc_request(self, model, inputs, typed=False, **parameters):
        request = pb.ModelInferRequest(model_name=model)
        for name, (datatype, array) in inputs.items():
            one = request.inputs.add(name=name, datatype=datatype, shape=array.shape)
            if typed:
                getattr(one.contents, CONTENTS[datatype]).extend(array.reshape(-1).tolist())
            else:
                request.raw_input_contents.append(to_binary(array, datatype))
        for name, value in parameters.items():
            kind = {bool: "bool_param", int: "int64_param", str: "string_param"}[type(value)]
            setattr(request.parameters[name], kind, value)
        return request

    @staticmethod
    def grpc_outputs(answer):
        return {one.name: from_binary(raw, one.datatype, one.shape)
                for one, raw in zip(answer.outputs, answer.raw_output_contents)}

    def grpc_infer(self, model, inputs, typed=False, **parameters):
        return self.grpc_outputs(self.stub.ModelInfer(self.grpc_request(model, inputs, typed, **parameters)))

    def refused(self, code, call):
        with self.assertRaises(grpc.RpcError) as raised:
            call()
        self.assertEqual(raised.exception.code(), code, raised.exception.details())
        return raised.exception.details()


class Datatypes(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, (elem, _) in TYPES.items():
            save_model(f"{cls.models}/{name}/1/model.onnx", elem=elem)
        save_model(f"{cls.models}/vector/1/model.onnx", dims=("length",))
        save_model(f"{cls.models}/word/1/model.onnx", elem=TensorProto.STRING, dims=(1,))
        cls.server = Server("--model-repository", cls.models)

    def test_every_type_by_every_way(self):
        for datatype in TYPES:
            array = samples(datatype)
            for binary in (True, False):
                with self.subTest(datatype=datatype, binary=binary):
                    sent = array
                    if datatype == "BF16" and not binary:
                        sent = np.array([[1, -2, 0.5]])
                    got = self.server.infer(datatype, {"x": (datatype, sent)}, binary=binary)["y"]
                    np.testing.assert_array_equal(got.astype(sent.dtype), sent)
            for typed in (True, False):
                if typed and datatype not in CONTENTS:
                    continue
                with self.subTest(datatype=datatype, typed=typed):
                    got = self.grpc_infer(datatype, {"x": (datatype, array)}, typed)["y"]
                    np.testing.assert_array_equal(got, array)

    def test_raw_requests(self):
        array = np.arange(7, dtype=np.float32)
        fields = {"Inference-Header-Content-Length": "0"}
        answer, data = self.server.ask("POST", "/v2/models/vector/infer", array.tobytes(), fields)
        np.testing.assert_array_equal(self.server.outputs(answer, data)["y"], array)
        answer, data = self.server.ask("POST", "/v2/models/word/infer", b"hello", fields)
        self.assertEqual(self.server.outputs(answer, data)["y"].tolist(), [b"hello"])
        answer, data = self.server.ask("POST", "/v2/models/vector/infer", b"12345", fields)
        self.assertEqual(answer.status, 400, data)

    def test_empty_and_large(self):
        for shape in [(0, 3), (3, 0), (1, 1_000_000)]:
            array = np.ones(shape, np.float32)
            np.testing.assert_array_equal(self.server.infer("FP32", {"x": ("FP32", array)})["y"], array)
            np.testing.assert_array_equal(self.grpc_infer("FP32", {"x": ("FP32", array)})["y"], array)

    def test_compression(self):
        array = np.zeros((1, 1000), np.float32)
        got = self.server.infer("FP32", {"x": ("FP32", array)}, headers={"Content-Encoding": "gzip"})["y"]
        np.testing.assert_array_equal(got, array)


class Examples(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.path.isdir(EXAMPLES):
            raise unittest.SkipTest("no oip/triton_examples in SARDONYX_TEST_DATA")
        shutil.rmtree(cls.models)
        shutil.copytree(EXAMPLES, cls.models)
        cls.server = Server("--model-repository", cls.models, "--model-control-mode=explicit", "--load-model=*",
                            "--allow-client-shm", "--metrics-names=triton", "--trace-config",
                            f"triton,file={cls.folder}/trace")
        cls.a = np.arange(16, dtype=np.int32).reshape(1, 16)
        cls.b = np.ones((1, 16), np.int32)

    def both(self, datatype="INT32", a=None, b=None):
        return {"INPUT0": (datatype, self.a if a is None else a), "INPUT1": (datatype, self.b if b is None else b)}

    def test_health_and_metadata(self):
        for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/simple/ready",
                     "/v2/models/simple/versions/1/ready"):
            self.server.call("GET", path)
        self.assertTrue(self.stub.ServerLive(pb.ServerLiveRequest()).live)
        self.assertTrue(self.stub.ServerReady(pb.ServerReadyRequest()).ready)
        self.assertTrue(self.stub.ModelReady(pb.ModelReadyRequest(name="simple")).ready)
        self.assertFalse(self.stub.ModelReady(pb.ModelReadyRequest(name="absent")).ready)
        metadata = self.server.call("GET", "/v2/models/simple")
        by_grpc = self.stub.ModelMetadata(pb.ModelMetadataRequest(name="simple"))
        self.assertEqual(metadata["inputs"], [{"name": one.name, "datatype": one.datatype, "shape": list(one.shape)}
                                              for one in by_grpc.inputs])
        self.assertEqual(self.server.call("GET", "/v2")["extensions"],
                         list(self.stub.ServerMetadata(pb.ServerMetadataRequest()).extensions))
        config = self.server.call("GET", "/v2/models/simple/config")
        self.assertEqual(config["max_batch_size"], 8)
        self.assertEqual(config["input"][0]["dims"], [16])
        self.assertEqual(self.stub.ModelConfig(pb.ModelConfigRequest(name="simple")).config.max_batch_size, 8)
        error = self.server.call("GET", "/v2/models/absent", status=404)["error"]
        self.assertIn("Request for unknown model: 'absent' is not found", error)
        self.assertIn("Request for unknown model", self.refused(
            grpc.StatusCode.NOT_FOUND, lambda: self.stub.ModelMetadata(pb.ModelMetadataRequest(name="absent"))))

    def test_health_watch(self):
        import health_pb2
        request = health_pb2.HealthCheckRequest(service="")
        answer = health.HealthStub(self.server.channel).Check(request)
        self.assertEqual(answer.status, health_pb2.HealthCheckResponse.SERVING)
        # The published schema leaves it out.
        watch = self.server.channel.unary_stream(
            "/grpc.health.v1.Health/Watch", health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString)(request)
        self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
        watch.cancel()

    def test_sums_and_differences(self):
        for infer in (self.server.infer, self.grpc_infer):
            got = infer("simple", self.both())
            np.testing.assert_array_equal(got["OUTPUT0"], self.a + self.b)
            np.testing.assert_array_equal(got["OUTPUT1"], self.a - self.b)
            small = infer("simple_int8", self.both("INT8", self.a.astype(np.int8), self.b.astype(np.int8)))
            np.testing.assert_array_equal(small["OUTPUT0"], self.a + self.b)
            words = [np.array([[str(v).encode() for v in one[0]]], np.object_) for one in (self.a, self.b)]
            text = infer("simple_string", self.both("BYTES", *words))
            self.assertEqual([int(v) for v in text["OUTPUT0"][0]], (self.a + self.b)[0].tolist())

    def test_classes(self):
        outputs = [{"name": "OUTPUT0", "parameters": {"classification": 3, "binary_data": True}}]
        got = self.server.infer("simple", self.both(), outputs)["OUTPUT0"]
        self.assertEqual(got.tolist(), [[b"16:15", b"15:14", b"14:13"]])
        request = self.grpc_request("simple", self.both())
        request.outputs.add(name="OUTPUT1").parameters["classification"].int64_param = 1
        self.assertEqual(self.grpc_outputs(self.stub.ModelInfer(request))["OUTPUT1"].tolist(), [[b"14:15"]])

    def test_refusals(self):
        wide = np.ones((1, 8), np.int32)
        cases = [
            ({"INPUT0": ("INT32", self.a)}, "expected 2 inputs but got 1 inputs for model 'simple'"),
            (self.both(a=wide), "unexpected shape for input 'INPUT0' for model 'simple'. Expected [-1,16], got [1,8]"),
            (self.both("FP32", self.a.astype(np.float32), self.b.astype(np.float32)),
             "data-type is 'FP32', but model 'simple' expects 'INT32'"),
            (self.both(a=np.ones((9, 16), np.int32), b=np.ones((9, 16), np.int32)),
             "inference request batch-size must be <= 8 for 'simple'"),
            (self.both(a=np.ones((2, 16), np.int32)), "batch size does not match other inputs"),
            ({**self.both(), "INPUT2": ("INT32", self.a)}, "unexpected inference input 'INPUT2' for model 'simple'"),
        ]
        for inputs, message in cases:
            with self.subTest(message):
                with self.assertRaisesRegex(RuntimeError, message.replace("[", r"\[")):
                    self.server.infer("simple", inputs)
                self.assertIn(message, self.refused(grpc.StatusCode.INVALID_ARGUMENT,
                                                    lambda: self.grpc_infer("simple", inputs)))

    def sequence(self, infer, model, key, values):
        got = []
        for i, value in enumerate(values):
            output = infer(model, {"INPUT": ("INT32", np.array([[value]], np.int32))}, sequence_id=key,
                           sequence_start=i == 0, sequence_end=i == len(values) - 1)
            got.append(int(output["OUTPUT"][0, 0]))
        return got

    def test_sequences(self):
        # The models have no state of their own: the example's output is INPUT, plus 1 where START is set; and with
        # the correlation id, added at END, in the other one.
        for i, infer in enumerate((self.server.infer, self.grpc_infer)):
            self.assertEqual(self.sequence(infer, "simple_sequence", 1000 + i, [11, 7, 5]), [12, 7, 5])
            got = self.sequence(infer, "simple_dyna_sequence", 2000 + i, [11, 7, 5])
            self.assertEqual(got, [12, 7, 5 + 2000 + i])
        with self.assertRaisesRegex(RuntimeError, "must specify the START flag"):
            self.server.infer("simple_sequence", {"INPUT": ("INT32", np.array([[1]], np.int32))}, sequence_id=77)
        with self.assertRaisesRegex(RuntimeError, "non-zero or non-empty correlation ID"):
            self.server.infer("simple_sequence", {"INPUT": ("INT32", np.array([[1]], np.int32))})

    def test_streams(self):
        requests = queue.Queue()
        answers = self.stub.ModelStreamInfer(iter(requests.get, None))
        for i, key in enumerate([31, 32, 31, 32, 31, 32]):
            request = self.grpc_request("simple_sequence", {"INPUT": ("INT32", np.array([[i]], np.int32))},
                                        sequence_id=key, sequence_start=i < 2, sequence_end=i > 3)
            request.id = f"{key}_{i}"
            requests.put(request)
        bad = self.grpc_request("absent", {})
        bad.id = "bad"
        requests.put(bad)
        requests.put(None)
        got = {one.infer_response.id: one for one in answers}
        self.assertEqual(len(got), 7)
        self.assertIn("Request for unknown model", got["bad"].error_message)
        values = [int(self.grpc_outputs(got[f"{key}_{i}"].infer_response)["OUTPUT"][0, 0])
                  for i, key in enumerate([31, 32, 31, 32, 31, 32])]
        self.assertEqual(values, [1, 2, 2, 3, 4, 5])

    def test_shared_memory(self):
        inputs = shared_memory.SharedMemory(create=True, size=128)
        outputs = shared_memory.SharedMemory(create=True, size=128)
        try:
            inputs.buf[:64], inputs.buf[64:128] = self.a.tobytes(), self.b.tobytes()
            self.server.call("POST", "/v2/systemsharedmemory/region/in/register",
                             {"key": inputs.name, "offset": 0, "byte_size": 128})
            self.stub.SystemSharedMemoryRegister(
                pb.SystemSharedMemoryRegisterRequest(name="out", key="/" + outputs.name, byte_size=128))
            again = self.server.call("POST", "/v2/systemsharedmemory/region/in/register",
                                     {"key": inputs.name, "offset": 0, "byte_size": 128}, status=400)
            self.assertIn("already in manager", again["error"])
            status = self.server.call("GET", "/v2/systemsharedmemory/status")
            self.assertEqual({one["name"] for one in status}, {"in", "out"})
            regions = self.stub.SystemSharedMemoryStatus(pb.SystemSharedMemoryStatusRequest()).regions
            self.assertEqual(regions["out"].byte_size, 128)
            where = lambda region, offset: {"shared_memory_region": region, "shared_memory_offset": offset,
                                            "shared_memory_byte_size": 64}
            request = {"inputs": [{"name": f"INPUT{i}", "datatype": "INT32", "shape": [1, 16],
                                   "parameters": where("in", 64 * i)} for i in range(2)],
                       "outputs": [{"name": f"OUTPUT{i}", "parameters": where("out", 64 * i)} for i in range(2)]}
            self.server.call("POST", "/v2/models/simple/infer", request)
            got = np.frombuffer(bytes(outputs.buf[:128]), np.int32).reshape(2, 16)
            np.testing.assert_array_equal(got, [(self.a + self.b)[0], (self.a - self.b)[0]])
            request["inputs"][0]["parameters"]["shared_memory_offset"] = 100
            error = self.server.call("POST", "/v2/models/simple/infer", request, status=400)["error"]
            self.assertIn("Invalid offset + byte size for shared memory region: 'in'", error)
            self.server.call("POST", "/v2/systemsharedmemory/region/in/unregister")
            self.stub.SystemSharedMemoryUnregister(pb.SystemSharedMemoryUnregisterRequest())
            self.assertEqual(self.server.call("GET", "/v2/systemsharedmemory/status"), [])
            error = self.server.call("POST", "/v2/models/simple/infer", request, status=404)["error"]
            self.assertIn("Unable to find shared memory region: 'in'", error)
        finally:
            for one in (inputs, outputs):
                one.close()
                one.unlink()

    def test_repository(self):
        index = {one["name"]: one for one in self.server.call("POST", "/v2/repository/index")}
        self.assertEqual(index["simple_int8"]["state"], "READY")
        self.stub.RepositoryModelUnload(pb.RepositoryModelUnloadRequest(model_name="simple_int8"))
        self.assertFalse(self.stub.ModelReady(pb.ModelReadyRequest(name="simple_int8")).ready)
        self.assertNotEqual(self.server.ask("GET", "/v2/models/simple_int8/ready")[0].status, 200)
        index = {one.name: one for one in self.stub.RepositoryIndex(pb.RepositoryIndexRequest()).models}
        self.assertEqual((index["simple_int8"].state, index["simple_int8"].reason), ("UNAVAILABLE", "unloaded"))
        self.server.call("POST", "/v2/repository/models/simple_int8/load")
        self.server.call("GET", "/v2/models/simple_int8/ready")
        error = self.server.call("POST", "/v2/repository/models/absent/load", status=404)["error"]
        self.assertIn("failed to load 'absent', failed to poll from model repository", error)
        self.server.call("POST", "/v2/repository/models/absent/unload")
        broken = {"parameters": {"config": json.dumps({"input": [{"name": "z", "data_type": "TYPE_FP32", "dims": [3]}]})}}
        error = self.server.call("POST", "/v2/repository/models/simple/load", broken, status=400)["error"]
        self.assertIn("load failed for model 'simple'", error)
        self.server.call("GET", "/v2/models/simple/ready")

    def test_loads_by_the_schema_of_kserve(self):
        # The name is in the first field, and so it is in the answer, with a bool in the second one.
        name = b"\x0a\x0bsimple_int8"
        for method, is_ready in (("Unload", False), ("Load", True)):
            call = self.server.channel.unary_unary(f"/inference.GRPCInferenceService/RepositoryModel{method}",
                                                   request_serializer=None, response_deserializer=None)
            self.assertEqual(call(name), name + b"\x10\x01")
            self.assertEqual(self.stub.ModelReady(pb.ModelReadyRequest(name="simple_int8")).ready, is_ready)

    def test_load_with_overrides(self):
        config = json.dumps({"backend": "onnxruntime", "max_batch_size": 3})
        self.server.call("POST", "/v2/repository/models/simple/load", {"parameters": {"config": config}})
        self.assertEqual(self.server.call("GET", "/v2/models/simple/config")["max_batch_size"], 3)
        path = os.path.join(self.folder, "added/model.onnx")
        save_model(path, constant=5.0)
        with open(path, "rb") as file:
            data = file.read()
        self.server.call("POST", "/v2/repository/models/added/load", {
            "parameters": {"config": '{"backend":"onnxruntime"}',
                           "file:7/model.onnx": base64.b64encode(data).decode()}})
        got = self.server.infer("added/versions/7", {"x": ("FP32", np.ones((1, 2), np.float32))})["y"]
        np.testing.assert_array_equal(got, [[6, 6]])
        request = pb.RepositoryModelLoadRequest(model_name="more")
        request.parameters["config"].string_param = '{"backend":"onnxruntime"}'
        request.parameters["file:1/model.onnx"].bytes_param = data
        self.stub.RepositoryModelLoad(request)
        self.assertEqual(self.grpc_infer("more", {"x": ("FP32", np.ones((1, 1), np.float32))})["y"], [[6]])
        self.server.call("POST", "/v2/repository/models/simple/load")
        self.assertEqual(self.server.call("GET", "/v2/models/simple/config")["max_batch_size"], 8)

    def test_statistics(self):
        def counts():
            return self.server.call("GET", "/v2/models/simple_string/stats")["model_stats"][0]
        before = counts()
        words = np.array([[b"1"] * 16] * 2, np.object_)
        for _ in range(3):
            self.server.infer("simple_string", self.both("BYTES", words, words))
        with self.assertRaises(RuntimeError):
            self.server.infer("simple_string", self.both("BYTES", np.array([[b"x"] * 16], np.object_), words[:1]))
        after = counts()
        self.assertEqual(after["inference_count"] - before["inference_count"], 6)
        self.assertEqual(after["execution_count"] - before["execution_count"], 3)
        self.assertEqual(after["inference_stats"]["fail"]["count"] - before["inference_stats"]["fail"]["count"], 1)
        for name in ("success", "queue", "compute_input", "compute_infer", "compute_output"):
            self.assertEqual(after["inference_stats"][name]["count"] - before["inference_stats"][name]["count"], 3, name)
            self.assertGreater(after["inference_stats"][name]["ns"], before["inference_stats"][name]["ns"], name)
        self.assertGreaterEqual(after["last_inference"], int(time.time() * 1000) - 60_000)
        self.assertEqual(after["batch_stats"][-1]["batch_size"], 2)
        by_grpc = self.stub.ModelStatistics(pb.ModelStatisticsRequest(name="simple_string")).model_stats[0]
        self.assertEqual(by_grpc.inference_stats.success.count, after["inference_stats"]["success"]["count"])
        self.assertIn("is not available", self.server.call("GET", "/v2/models/absent/stats", status=404)["error"])
        other = http.client.HTTPConnection("127.0.0.1", self.server.metrics)
        other.request("GET", "/metrics")
        self.assertIn('nv_inference_request_success{model="simple_string",version="1"}',
                      other.getresponse().read().decode())
        other.close()

    def test_logging(self):
        settings = self.server.call("POST", "/v2/logging", {"log_verbose_level": 1, "log_format": "ISO8601"})
        self.assertEqual((settings["log_verbose_level"], settings["log_format"]), (1, "ISO8601"))
        request = pb.LogSettingsRequest()
        request.settings["log_verbose_level"].uint32_param = 0
        request.settings["log_format"].string_param = "default"
        got = self.stub.LogSettings(request).settings
        self.assertEqual((got["log_verbose_level"].uint32_param, got["log_format"].string_param), (0, "default"))
        self.assertIn("can not be updated", self.server.call("POST", "/v2/logging", {"log_file": "x"}, 501)["error"])

    def test_trace_settings(self):
        request = pb.TraceSettingRequest(model_name="simple")
        request.settings["trace_level"].value.append("TIMESTAMPS")
        request.settings["trace_rate"].value.append("1")
        got = self.stub.TraceSetting(request).settings
        self.assertEqual(list(got["trace_level"].value), ["TIMESTAMPS"])
        self.assertEqual(self.server.call("GET", "/v2/models/simple/trace/setting")["trace_rate"], "1")
        self.assertEqual(self.server.call("GET", "/v2/trace/setting")["trace_level"], ["OFF"])
        self.grpc_infer("simple", self.both())
        request.settings["trace_level"].ClearField("value")
        request.settings["trace_rate"].ClearField("value")
        self.assertEqual(list(self.stub.TraceSetting(request).settings["trace_level"].value), ["OFF"])
        for _ in range(100):  # it is written once the answer is
            if os.path.exists(f"{self.folder}/trace"):
                break
            time.sleep(0.02)
        with open(f"{self.folder}/trace") as file:
            names = {one["timestamps"][0]["name"] for one in json.loads(file.read() + "]") if "timestamps" in one}
        self.assertLessEqual({"REQUEST_START", "COMPUTE_START", "COMPUTE_END", "REQUEST_END", "GRPC_SEND_END"}, names)


class Polling(ServerCase):
    def test_versions_come_and_go(self):
        save_model(f"{self.models}/m/1/model.onnx", constant=1.0)
        type(self).server = Server("--model-repository", self.models, "--model-control-mode=poll",
                                   "--repository-poll-secs=0.1")
        x = {"x": ("FP32", np.zeros((1, 1), np.float32))}
        self.assertEqual(self.server.infer("m", x)["y"], [[1]])

        def waits_for(value):
            for _ in range(100):
                if self.server.infer("m", x)["y"] == [[value]]:
                    return True
                time.sleep(0.1)
            return False
        save_model(f"{self.models}/m/2/model.onnx", constant=2.0)
        self.assertTrue(waits_for(2))
        error = self.server.call("GET", "/v2/models/m/versions/1", status=503)["error"]
        self.assertIn("version 1 is not at ready state", error)
        with open(f"{self.models}/m/config.pbtxt", "w") as file:
            file.write("version_policy { all { } }")
        for _ in range(100):
            if self.server.ask("GET", "/v2/models/m/versions/1")[0].status == 200:
                break
            time.sleep(0.1)
        self.assertEqual(self.server.infer("m/versions/1", x)["y"], [[1]])
        self.assertEqual(self.server.call("GET", "/v2/models/m")["versions"], ["1", "2"])
        shutil.rmtree(f"{self.models}/m/2")
        self.assertTrue(waits_for(1))
        error = self.server.call("POST", "/v2/repository/models/m/load", status=503)["error"]
        self.assertIn("explicit model load / unload is not allowed", error)


if __name__ == "__main__":
    if "--server" in sys.argv:
        at = sys.argv.index("--server")
        SERVER = sys.argv[at + 1]
        del sys.argv[at : at + 2]
    unittest.main()
