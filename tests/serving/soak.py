#!/usr/bin/python3
"""Loads onnx-serve in every way at once for some time: clients that ask and compare, that die in the middle of a request, that
send and read slowly, that send what is broken; sequences, gRPC streams, reloads and profiles. Ends with 1 where an answer was
wrong or lost, requests are left over, memory grew or the server did not end by itself.

    tests/serving/soak.py [--server build/bin/onnx-serve] [--seconds 300]

Needs Debian's python3-grpcio, python3-onnx, python3-numpy and protobuf-compiler-grpc.
"""
import argparse
import collections
import http.client
import json
import os
import random
import re
import socket
import struct
import sys
import tempfile
import threading
import time
import unittest

import clients_test
import figure_models
import load
import numpy as np
from clients_test import Server
from onnx import helper

FLOAT = np.float32


class Soak:
    def __init__(self, server):
        self.server, self.ends = server, threading.Event()
        self.counts, self.problems, self.lock = collections.Counter(), [], threading.Lock()

    def count(self, name):
        with self.lock:
            self.counts[name] += 1

    def problem(self, what):
        with self.lock:
            self.problems.append(what)

    def each_time(self, work, seed):
        """Calls work(random numbers) until the end; what it throws is a problem."""
        rng = random.Random(seed)
        while not self.ends.is_set():
            try:
                work(rng)
                self.count(work.__name__)
            except Exception as error:  # whatever it is, it is to be seen
                self.problem(f"{work.__name__}: {type(error).__name__}: {error}")
                time.sleep(0.1)

    def connection(self, patience=60):
        return http.client.HTTPConnection("127.0.0.1", self.server.http, timeout=patience)

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.server.http), timeout=60)

    def infer(self, connection, model, inputs, **parameters):
        body, fields = load.binary_body(inputs)
        size = int(fields["Inference-Header-Content-Length"])
        head = json.loads(body[:size])
        head["parameters"].update(parameters)
        head = json.dumps(head).encode()
        connection.request("POST", f"/v2/models/{model}/infer", head + body[size:],
                           {"Inference-Header-Content-Length": str(len(head))})
        answer = connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{model}: {answer.status} {data[:300]}")
        return Server.outputs(answer, data)

    # What clients do.

    def asks(self, rng):
        connection = self.connection()
        for _ in range(rng.randrange(1, 30)):
            x = np.full((rng.randrange(1, 5), 16), rng.random(), FLOAT)
            got = self.infer(connection, "tiny", {"x": ("FP32", x)})["y"]
            if not np.array_equal(got, -x):
                self.problem(f"asks: {x[0, 0]} gave {got[0, 0]}")
            self.count("answers")
        connection.close()

    def asks_of_lengths(self, rng):
        ids = np.array([[rng.randrange(1000) for _ in range(rng.randrange(16, 129))]], np.int64)
        inputs = {"input_ids": ("INT64", ids), "attention_mask": ("INT64", np.ones_like(ids))}
        connection = self.connection()
        alone, padded = (self.infer(connection, model, inputs)["y"] for model in ("bert", "padded"))
        if not np.allclose(alone, padded, atol=1e-3, rtol=1e-3):
            self.problem(f"asks_of_lengths: {ids.size} tokens differ by {np.abs(alone - padded).max()}")
        connection.close()

    def asks_in_json(self, rng):
        connection = self.connection()
        values = [rng.randrange(-1000, 1000) for _ in range(16)]
        connection.request("POST", "/v2/models/tiny/infer", json.dumps(
            {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 16], "data": values}]}),
            {"Accept-Encoding": "gzip"})
        data = json.loads(connection.getresponse().read())["outputs"][0]["data"]
        if data != [-value for value in values]:
            self.problem(f"asks_in_json: {values} gave {data}")
        connection.close()

    def keeps_a_sequence(self, rng):
        connection, key, total = self.connection(), rng.randrange(1, 1 << 60), 0
        for i in range(5):
            total += i
            got = self.infer(connection, "sum", {"x": ("FP32", np.full((1, 1), i, FLOAT))}, sequence_id=key,
                             sequence_start=i == 0, sequence_end=i == 4)["y"]
            if got[0, 0] != total:
                self.problem(f"keeps_a_sequence: expected {total}, got {got[0, 0]}")
        connection.close()

    def leaves_a_sequence(self, rng):
        client = self.raw()
        body, fields = load.binary_body({"x": ("FP32", np.ones((1, 1), FLOAT))})
        size = int(fields["Inference-Header-Content-Length"])
        head = json.loads(body[:size])
        head["parameters"].update(sequence_id=rng.randrange(1, 1 << 60), sequence_start=True)
        head = json.dumps(head).encode()
        client.sendall(load.http_request("/v2/models/sum/infer", head + body[size:],
                                         {"Inference-Header-Content-Length": str(len(head))}))
        time.sleep(rng.random() * 0.05)
        self.reset(client)

    @staticmethod
    def reset(client):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()

    def dies(self, rng):
        model = rng.choice(["slow", "mlp"])
        shape = [1024, 1024] if model == "slow" else [1, 1024]
        body, fields = load.binary_body({"x": ("FP32", np.full(shape, 1e-3, FLOAT))})
        request = load.http_request(f"/v2/models/{model}/infer", body, fields)
        client = self.raw()
        client.sendall(request[:rng.choice([len(request), rng.randrange(len(request))])])
        time.sleep(rng.random() * 0.1)
        self.reset(client)

    def is_slow(self, rng):
        body, fields = load.binary_body({"x": ("FP32", np.ones((1, 16), FLOAT))})
        request = load.http_request("/v2/models/tiny/infer", body, {**fields, "Connection": "close"})
        client = self.raw()
        for at in range(0, len(request), 16):
            client.sendall(request[at:at + 16])
            time.sleep(0.01)
        got = b""
        while more := client.recv(16):
            got += more
            time.sleep(0.005)
        if not got.startswith(b"HTTP/1.1 200"):
            self.problem(f"is_slow: {got[:200]}")
        client.close()

    def sends_nonsense(self, rng):
        body, fields = load.binary_body({"x": ("FP32", np.ones((1, 16), FLOAT))})
        request = bytearray(load.http_request("/v2/models/tiny/infer", body, fields))
        for _ in range(rng.randrange(1, 8)):
            kind, at = rng.randrange(3), rng.randrange(len(request))
            if kind == 0:
                request[at] = rng.randrange(256)
            elif kind == 1:
                del request[at:at + rng.randrange(1, 40)]
            else:
                request[at:at] = rng.choice([b"\r\n", b"[" * 100, b"\0", b"-1", b"9" * 30, b'"', b"\xff\xfe"])
        client = self.raw()
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        got = client.recv(65536)
        if got and not re.match(rb"HTTP/1\.1 [2345]\d\d ", got):
            self.problem(f"sends_nonsense: {got[:100]}")
        if got.startswith(b"HTTP/1.1 500"):
            self.problem(f"sends_nonsense: a defect: {got[:300]}, asked {bytes(request)}")
        client.close()

    def asks_by_grpc(self, rng):
        x = np.full((1, 16), rng.random(), FLOAT)
        got = self.grpc_infer("tiny", x).result(timeout=60)
        if got.raw_output_contents[0] != (-x).tobytes():
            self.problem("asks_by_grpc: a wrong answer")

    def cancels_by_grpc(self, rng):
        call = self.grpc_infer("slow", np.full((1024, 1024), 1e-3, FLOAT))
        time.sleep(rng.random() * 0.05)
        call.cancel()

    def streams(self, rng):
        requests = [self.grpc_request("tiny", np.full((1, 16), i, FLOAT), str(i)) for i in range(rng.randrange(1, 20))]
        answers = sorted(int(one.infer_response.id) for one in self.stub.ModelStreamInfer(iter(requests), timeout=60))
        if answers != list(range(len(requests))):
            self.problem(f"streams: {len(requests)} requests, answers {answers}")

    def reloads(self, _):
        connection = self.connection()
        connection.request("POST", "/v2/repository/models/mlp/load", b"")
        answer = connection.getresponse()
        if answer.status != 200:
            self.problem(f"reloads: {answer.read()}")
        connection.close()
        time.sleep(0.5)

    def watches(self, _):
        connection = self.connection()
        for path in ("/metrics", "/v2/models/stats", "/v2/models/tiny/profile?seconds=0.2", "/", "/v2/health/ready"):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                self.problem(f"watches: {path} {answer.status}")
        connection.close()
        time.sleep(0.2)

    def grpc_request(self, model, x, key=""):
        request = clients_test.pb.ModelInferRequest(model_name=model, id=key)
        request.inputs.add(name="x", datatype="FP32", shape=x.shape)
        request.raw_input_contents.append(x.tobytes())
        return request

    def grpc_infer(self, model, x):
        return self.stub.ModelInfer.future(self.grpc_request(model, x))

    @property
    def stub(self):
        return clients_test.service.GRPCInferenceServiceStub(self.server.channel)

    def memory(self):
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024

    def pending(self):
        connection = self.connection()
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return sum(float(value) for value in re.findall(r"^sardonyx_requests_pending\{[^}]*\} (\S+)$", text, re.M))

    def run(self, seconds):
        work = [self.asks, self.asks, self.asks_of_lengths, self.asks_in_json, self.keeps_a_sequence, self.leaves_a_sequence,
                self.dies, self.is_slow, self.sends_nonsense, self.asks_by_grpc, self.cancels_by_grpc, self.streams,
                self.reloads, self.watches]
        threads = [threading.Thread(target=self.each_time, args=(one, i)) for i, one in enumerate(work)]
        for thread in threads:
            thread.start()
        memory, until = [], time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(min(seconds / 10, max(until - time.monotonic(), 0)))
            memory.append(self.memory())
            if self.server.process.poll() is not None:
                self.problem(f"the server has ended with {self.server.process.returncode}")
                break
        self.ends.set()
        for thread in threads:
            thread.join()
        return memory


def save_models(folder):
    figure_models.save_models(folder)
    for name in ("image", "flat", "busy", "small", "large"):
        os.remove(f"{folder}/{name}/1/model.onnx")
        os.rmdir(f"{folder}/{name}/1")
        for file in os.listdir(f"{folder}/{name}"):
            os.remove(f"{folder}/{name}/{file}")
        os.rmdir(f"{folder}/{name}")
    pairs = [("x", ["batch", 1]), ("before", ["batch", 1])]
    figure_models.save(f"{folder}/sum/1/model.onnx", [helper.make_node("Add", ["x", "before"], ["y"])], pairs,
                       [("y", ["batch", 1])])
    with open(f"{folder}/sum/config.pbtxt", "w") as file:
        file.write("max_batch_size: 8 sequence_batching { max_sequence_idle_microseconds: 500000 "
                   "oldest { max_candidate_sequences: 16 } state { input_name: \"before\" output_name: \"y\" "
                   "data_type: TYPE_FP32 dims: [ 1 ] } }")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=clients_test.SERVER)
    parser.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args()
    clients_test.SERVER = options.server
    with tempfile.TemporaryDirectory() as folder:
        try:
            clients_test.stubs(folder)
        except unittest.SkipTest as missing:
            print(f"skipped: {missing}")
            return
        import grpc_service_pb2
        import grpc_service_pb2_grpc
        clients_test.pb, clients_test.service = grpc_service_pb2, grpc_service_pb2_grpc
        save_models(f"{folder}/models")
        server = Server("--model-repository", f"{folder}/models", "--model-control-mode=explicit", "--load-model=*",
                        "--drain-timeout=10")
        soak = Soak(server)
        memory = soak.run(options.seconds)
        if server.process.poll() is None:
            until = time.monotonic() + 30
            while soak.pending() > 0 and time.monotonic() < until:
                time.sleep(0.1)
            if soak.pending() > 0:
                soak.problem(f"{soak.pending()} requests are left over")
        code = server.stop()
    if code != 0:
        soak.problem(f"the server ended with {code}")
    # A third of the time is for plans, pools and caches to fill, which takes minutes: a short soak finds large leaks alone.
    settled, last = memory[len(memory) // 3], memory[-1]
    if last > settled * (1.1 if options.seconds >= 300 else 1.5) + 8:
        soak.problem(f"memory grew from {settled:.0f} to {last:.0f} MB")
    print(f"{options.seconds:.0f} s: {dict(sorted(soak.counts.items()))}")
    print(f"memory: {', '.join(f'{one:.0f}' for one in memory)} MB")
    for one, times in collections.Counter(soak.problems).most_common(20):
        print(f"{times} x {one}")
    sys.exit(1 if soak.problems else 0)


if __name__ == "__main__":
    main()
