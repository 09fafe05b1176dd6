#!/usr/bin/python3
"""Calls onnx-serve at random over both protocols, with valid bodies and broken ones, and keeps account of what it must know:
models that are loaded and unloaded, regions of shared memory. Each answer is to have a status that this allows, errors are
{"error": ...}, right requests have right answers, and memory does not grow.

    tests/serving/random_calls.py [--server build/bin/onnx-serve] [--calls 20000] [--seed 1]

Needs what soak.py needs. Prints the seed and the call where something was wrong; the same seed makes the same calls.
"""
import argparse
import copy
import json
import os
import random
import sys
import tempfile
import unittest
from multiprocessing import shared_memory

import clients_test
import grpc
import load
import numpy as np
from clients_test import Server, TensorProto, save_model

MODELS = {"tiny": ("FP32", np.float32), "ints": ("INT64", np.int64), "flags": ("BOOL", np.bool_), "words": ("BYTES", np.object_)}
NUMBERS = [0, 1, -1, 2**31, 2**63, -2**63 - 1, 1e308, -0.5, 2**64]
ODD = [None, True, False, "", "x", "\0", "\ud800", "a" * 3000, [], {}, [[]], {"x": {}}, [1, "a", None], "FP32", "NaN", *NUMBERS]


class Wrong(Exception):
    pass


def mutated(rng, value):
    """A copy in which one place has something else."""
    value = copy.deepcopy(value)
    places, todo = [], [value]
    while todo:
        one = todo.pop()
        for key in one if isinstance(one, dict) else range(len(one)):
            places.append((one, key))
            if isinstance(one[key], (dict, list)):
                todo.append(one[key])
    holder, key = rng.choice(places) if places else (value, "x")
    kind = rng.randrange(4)
    if kind == 0 and places:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[rng.choice(["", "shape", "parameters", "data", "x", "\0"])] = rng.choice(ODD)
    elif kind == 2 and isinstance(holder, list):
        holder.append(rng.choice(ODD))
    else:
        holder[key] = rng.choice(ODD)
    return value


def garbled(rng, data):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(data) + 1)
        data[at:at + rng.choice([0, 0, 1, 5])] = rng.choice([b"", b"{", b"]", b'"', b"\0", b"\xff", b"9" * 25, rng.randbytes(2)])
    return bytes(data)


class Outsider:
    def __init__(self, server, rng):
        self.server, self.rng, self.loaded, self.regions = server, rng, set(), {}
        self.memory = shared_memory.SharedMemory(create=True, size=4096)
        self.stub = clients_test.service.GRPCInferenceServiceStub(server.channel)

    def ask(self, method, path, body=None, fields=None, allowed=(200,)):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode("utf-8", "surrogatepass")
        answer, data = self.server.ask(method, path, body, fields)
        if answer.status not in allowed:
            raise Wrong(f"{method} {path} {body}: expected {allowed}, got {answer.status} {data[:300]}")
        if answer.status >= 400 and not isinstance(json.loads(data).get("error"), str):
            raise Wrong(f"{method} {path}: {answer.status} with {data[:300]}")
        return answer, data

    def call(self, method, request, allowed):
        """The answer, or None where it is refused with one of the codes."""
        try:
            return getattr(self.stub, method)(request, timeout=60)
        except grpc.RpcError as error:
            if error.code().name not in allowed:
                raise Wrong(f"{method} {request}: expected {allowed}, got {error.code()} {error.details()}") from error
            return None

    # What is asked for.

    def values(self, model):
        shape = [self.rng.randrange(4), 3]
        count = shape[0] * shape[1]
        if model == "words":
            return np.array([self.rng.choice([b"", b"word", "ä\n".encode()]) for _ in range(count)], np.object_).reshape(shape)
        return np.array([self.rng.randrange(2 if model == "flags" else 1000) for _ in range(count)]).astype(MODELS[model][1]).reshape(shape)

    def json_request(self, model, array):
        data = [one.decode() for one in array.reshape(-1)] if model == "words" else array.reshape(-1).tolist()
        return {"id": "1", "parameters": {"priority": 1}, "outputs": [{"name": "y", "parameters": {"binary_data": False}}],
                "inputs": [{"name": "x", "datatype": MODELS[model][0], "shape": list(array.shape), "data": data}]}

    def grpc_request(self, model, array):
        request = clients_test.pb.ModelInferRequest(model_name=model, id="1")
        request.inputs.add(name="x", datatype=MODELS[model][0], shape=array.shape)
        request.raw_input_contents.append(clients_test.to_binary(array, MODELS[model][0]))
        return request

    def infers(self):
        model, binary = self.rng.choice(list(MODELS)), self.rng.random() < 0.5
        array = self.values(model)
        if model not in self.loaded:
            self.ask("POST", f"/v2/models/{model}/infer", self.json_request(model, array), allowed=(404, 503))
            return
        got = self.server.infer(model, {"x": (MODELS[model][0], array)}, binary=binary)["y"]
        if got.tolist() != array.tolist():
            raise Wrong(f"{model}: {array.tolist()} gave {got.tolist()}")

    def infers_by_grpc(self):
        model = self.rng.choice(list(MODELS))
        array = self.values(model)
        answer = self.call("ModelInfer", self.grpc_request(model, array),
                           () if model in self.loaded else ("NOT_FOUND", "UNAVAILABLE"))
        if answer and answer.raw_output_contents[0] != clients_test.to_binary(array, MODELS[model][0]):
            raise Wrong(f"{model}: {array.tolist()} gave {answer}")

    def infers_what_is_broken(self):
        model = self.rng.choice(list(MODELS))
        request = mutated(self.rng, self.json_request(model, self.values(model)))
        allowed = (200, 400, 501) if model in self.loaded else (400, 404, 503)
        self.ask("POST", f"/v2/models/{model}/infer", request, allowed=allowed)

    def infers_what_is_garbled(self):
        model = self.rng.choice(list(MODELS))
        body, fields = load.binary_body({"x": (MODELS[model][0], np.zeros((2, 3), np.float32))})
        if self.rng.random() < 0.5:
            body, fields = json.dumps(self.json_request(model, self.values(model))).encode(), {}
        elif self.rng.random() < 0.3:
            fields = {"Inference-Header-Content-Length": self.rng.choice(["0", "-1", "x", "5", str(len(body)), str(2**64)])}
        self.ask("POST", f"/v2/models/{model}/infer", garbled(self.rng, body), fields,
                 (200, 400, 501) if model in self.loaded else (400, 404, 503))

    def infers_what_is_garbled_by_grpc(self):
        model = self.rng.choice(list(MODELS))
        data = garbled(self.rng, self.grpc_request(model, self.values(model)).SerializeToString())
        try:
            self.server.channel.unary_unary("/inference.GRPCInferenceService/ModelInfer", request_serializer=None,
                                            response_deserializer=None)(data, timeout=60)
        except grpc.RpcError as error:
            if error.code().name not in ("INVALID_ARGUMENT", "NOT_FOUND", "UNAVAILABLE", "UNIMPLEMENTED"):
                raise Wrong(f"ModelInfer {data}: {error.code()} {error.details()}") from error

    def loads(self):
        name = self.rng.choice([*MODELS, "absent", "broken", "%ff", "a%0ab", ".."])
        good = name in MODELS
        body = self.rng.choice([b"", b"{}", {"parameters": {}}, {"parameters": {"config": json.dumps({"max_batch_size": 0})}}])
        if self.rng.random() < 0.3:
            body = mutated(self.rng, {"parameters": {"config": json.dumps({"max_batch_size": 0}), "file:1/model.onnx": "AAAA"}})
            good = None
        allowed = (200,) if good else (200, 400, 404) if good is None else (400, 404)
        answer, _ = self.ask("POST", f"/v2/repository/models/{name}/load", body, allowed=allowed)
        if answer.status == 200:
            self.loaded.add(name)

    def unloads(self):
        name = self.rng.choice([*MODELS, "absent"])
        body = self.rng.choice([b"", b"{}", {"parameters": {"unload_dependents": True}}])
        self.ask("POST", f"/v2/repository/models/{name}/unload", body, allowed=(200,))
        self.loaded.discard(name)

    def loads_by_grpc(self):
        name = self.rng.choice(list(MODELS))
        if self.rng.random() < 0.5:
            self.call("RepositoryModelLoad", clients_test.pb.RepositoryModelLoadRequest(model_name=name), ())
            self.loaded.add(name)
        else:
            self.call("RepositoryModelUnload", clients_test.pb.RepositoryModelUnloadRequest(model_name=name), ())
            self.loaded.discard(name)

    def looks(self):
        _, data = self.ask("POST", "/v2/repository/index", self.rng.choice([b"", {"ready": True}]))
        ready = {one["name"] for one in json.loads(data) if one["state"] == "READY"}
        if ready != self.loaded:
            raise Wrong(f"loaded are {self.loaded}, the index says {ready}")
        name = self.rng.choice([*MODELS, "absent"])
        for call in ("", "/ready", "/config", "/stats", "/versions/1", "/versions/2/config", "/versions/x", "/trace/setting"):
            is_there = name in self.loaded and call not in ("/versions/2/config", "/versions/x")
            loose = call in ("/stats", "/trace/setting")
            self.ask("GET", f"/v2/models/{name}{call}", allowed=(200, 404, 503) if loose else (200,) if is_there else (400, 404, 503))
        for path in ("/v2", "/v2/health/ready", "/v2/models", "/v2/models/stats", "/metrics", "/"):
            self.ask("GET", path)

    def changes_settings(self):
        for path, body in (("/v2/logging", {"log_info": True, "log_verbose_level": 0, "log_format": "default"}),
                           ("/v2/trace/setting", {"trace_level": ["TIMESTAMPS"], "trace_rate": "1000", "trace_count": "5"})):
            self.ask("POST", path, body)
            # A file of another name is none that a client may ask for.
            changed = mutated(self.rng, body)
            self.ask("POST", path, changed, allowed=(200, 400))
            self.ask("GET", path)

    def registers(self):
        name, key = self.rng.choice("abc"), self.rng.choice([f"/{self.memory.name}", "/absent", "../etc", ""])
        offset, size = self.rng.choice([0, 8, 4096, 5000, 2**63]), self.rng.choice([0, 24, 4096, 2**64 - 1])
        good = key == f"/{self.memory.name}" and size > 0 and offset + size <= 4096 and name not in self.regions
        self.ask("POST", f"/v2/systemsharedmemory/region/{name}/register", {"key": key, "offset": offset, "byte_size": size},
                 allowed=(200,) if good else (400,))
        if good:
            self.regions[name] = size
        self.ask("POST", f"/v2/systemsharedmemory/region/{name}x/register",
                 mutated(self.rng, {"key": "/absent", "offset": 0, "byte_size": 1}), allowed=(400,))

    def unregisters(self):
        name = self.rng.choice("abc")
        self.ask("POST", f"/v2/systemsharedmemory/region/{name}/unregister")
        self.regions.pop(name, None)
        _, data = self.ask("GET", "/v2/systemsharedmemory/status")
        if {one["name"] for one in json.loads(data)} != set(self.regions):
            raise Wrong(f"registered are {set(self.regions)}, the server says {data}")

    def infers_by_memory(self):
        name, offset, size = self.rng.choice("abc"), self.rng.choice([0, 8, 4090, 2**63]), self.rng.choice([12, 24, 0, 2**64 - 1])
        where = {"shared_memory_region": name, "shared_memory_offset": offset, "shared_memory_byte_size": size}
        fits = name in self.regions and size == 12 and offset + 12 <= self.regions[name] and "tiny" in self.loaded
        self.ask("POST", "/v2/models/tiny/infer", {
            "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "parameters": where}],
            "outputs": [{"name": "y", "parameters": where}]}, allowed=(200,) if fits else (400, 404, 503))

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024

    def run(self, calls):
        work = [self.infers, self.infers, self.infers_by_grpc, self.infers_what_is_broken, self.infers_what_is_broken,
                self.infers_what_is_garbled, self.infers_what_is_garbled_by_grpc, self.loads, self.unloads, self.loads_by_grpc,
                self.looks, self.changes_settings, self.registers, self.unregisters, self.infers_by_memory]
        settled = None
        for i in range(calls):
            one = self.rng.choice(work)
            try:
                one()
            except Exception as error:
                return f"call {i}, {one.__name__}: {type(error).__name__}: {error}"
            if i == calls // 3:
                settled = self.resident()
        last = self.resident()
        print(f"{calls} calls; memory {settled:.0f} MB after a third of them, {last:.0f} MB at the end")
        return f"memory grew from {settled:.0f} to {last:.0f} MB" if last > settled * 1.1 + 8 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=clients_test.SERVER)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    clients_test.SERVER = options.server
    with tempfile.TemporaryDirectory() as folder:
        try:
            clients_test.stubs(folder)
        except unittest.SkipTest as missing:
            print(f"skipped: {missing}")
            return
        for name, elem in (("tiny", TensorProto.FLOAT), ("ints", TensorProto.INT64), ("flags", TensorProto.BOOL),
                           ("words", TensorProto.STRING)):
            save_model(f"{folder}/models/{name}/1/model.onnx", elem=elem, dims=("batch", 3))
        os.makedirs(f"{folder}/models/broken/1")
        with open(f"{folder}/models/broken/1/model.onnx", "w") as file:
            file.write("no model")
        server = Server("--model-repository", f"{folder}/models", "--model-control-mode=explicit", "--allow-client-shm",
                        "--trace-config", f"triton,file={folder}/trace")
        outsider = Outsider(server, random.Random(options.seed))
        try:
            problem = outsider.run(options.calls)
        finally:
            outsider.memory.close()
            outsider.memory.unlink()
        code = server.stop()
    if code != 0:
        problem = f"{problem} the server ended with {code}"
    if problem:
        sys.exit(f"seed {options.seed}: {problem}")


if __name__ == "__main__":
    main()
