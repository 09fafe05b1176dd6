#!/usr/bin/python3
"""Loads onnx-serve in every way at once for some time: clients that ask and compare, that die in the middle of a request, that
send and read slowly, that send what is broken; sequences, ensembles, gRPC streams, shared memory that is cut off, reloads, models
that come and go, profiles; and a second server with TLS, whose certificate is renewed all the time. Both are ended under load.
Ends with 1 where an answer was wrong or lost, requests are left over, memory grew or a server did not end by itself.

    tests/serving/soak.py [--server build/bin/onnx-serve] [--seconds 300] [--growth 1.1]

Needs Debian's python3-grpcio, python3-onnx, python3-numpy and protobuf-compiler-grpc.
"""
import argparse
import collections
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from multiprocessing import shared_memory

import broken_requests
import clients_test
import figure_models
import figures
import grpc
import load
import numpy as np
from clients_test import Server
from onnx import helper

FLOAT = np.float32


class Soak:
    def __init__(self, server, encrypted, certificates):
        self.server, self.encrypted, self.certificates = server, encrypted, certificates
        self.broken, self.broken_http2 = broken_requests.http_requests(), broken_requests.http2_connections()
        self.ends = threading.Event()
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
        answered = time.monotonic()
        for i in range(5):
            if time.monotonic() - answered > 1:  # this client was kept from asking, and its sequence may have been idle for too long
                break
            total += i
            got = self.infer(connection, "sum", {"x": ("FP32", np.full((1, 1), i, FLOAT))}, sequence_id=key,
                             sequence_start=i == 0, sequence_end=i == 4)["y"]
            answered = time.monotonic()
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
        time.sleep(rng.random() * 0.4)
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

    def asks_of_an_ensemble(self, rng):
        connection = self.connection()
        x = np.full((rng.randrange(1, 5), 16), rng.random(), FLOAT)
        got = self.infer(connection, "pair", {"x": ("FP32", x)})["z"]
        if not np.array_equal(got, x):
            self.problem(f"asks_of_an_ensemble: {x[0, 0]} gave {got[0, 0]}")
        connection.close()

    def sends_broken_requests(self, rng):
        one = rng.choice(self.broken)
        client = self.raw()
        try:
            pieces = rng.choice([len(one.request), 4096, 100]) if len(one.request) < 5000 else len(one.request)
            for at in range(0, len(one.request), pieces):
                client.sendall(one.request[at:at + pieces])
                time.sleep(0.002)
            if one.is_cut:
                client.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was refused before its end
        got = b""
        try:
            while len(broken_requests.statuses(got) or []) < max(1, len(one.statuses)) and (more := client.recv(65536)):
                got += more
        except ConnectionResetError:
            pass
        statuses = broken_requests.statuses(got)
        if statuses != one.statuses:
            self.problem(f"sends_broken_requests: {one.name}: expected {one.statuses}, got {statuses}, {got[:200]}")
        client.close()

    def breaks_http2(self, rng):
        client = socket.create_connection(("127.0.0.1", self.server.grpc), timeout=0.2)
        try:
            client.sendall(rng.choice(list(self.broken_http2.values())))
            while client.recv(65536):
                pass
        except (TimeoutError, ConnectionResetError, BrokenPipeError):
            pass
        if rng.random() < 0.5:
            self.reset(client)
        client.close()

    def sends_no_message(self, rng):
        method = rng.choice([one.name for one in clients_test.pb.DESCRIPTOR.services_by_name["GRPCInferenceService"].methods])
        as_it_is = {"request_serializer": None, "response_deserializer": None}
        path = f"/inference.GRPCInferenceService/{method}"
        data = b"\x0a\xff" + rng.randbytes(rng.randrange(50))
        try:
            if method == "ModelStreamInfer":
                answers = list(self.server.channel.stream_stream(path, **as_it_is)(iter([data] * 3), timeout=60))
                if len(answers) != 3:
                    self.problem(f"sends_no_message: {len(answers)} answers to 3 of a stream")
                return
            self.server.channel.unary_unary(path, **as_it_is)(data, timeout=60)
            self.problem(f"sends_no_message: {method} took {data}")
        except grpc.RpcError as error:
            if error.code() not in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED):
                self.problem(f"sends_no_message: {method}: {error.code()} {error.details()}")

    def shares_memory(self, rng):
        region, x = f"r{rng.randrange(1 << 60)}", np.full((1, 1024), rng.random(), FLOAT)
        memory = shared_memory.SharedMemory(create=True, size=2 * x.nbytes)
        connection = self.connection()
        try:
            memory.buf[:x.nbytes] = x.tobytes()
            where = lambda offset: {"shared_memory_region": region, "shared_memory_byte_size": x.nbytes,
                                    "shared_memory_offset": offset}
            ask = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 1024], "parameters": where(0)}],
                              "outputs": [{"name": "y", "parameters": where(x.nbytes)}]})
            def call(path, body):
                connection.request("POST", path, body)
                answer = connection.getresponse()
                return answer.status, answer.read()
            path = f"/v2/systemsharedmemory/region/{region}"
            status, answer = call(f"{path}/register", json.dumps({"key": memory.name, "byte_size": 2 * x.nbytes}))
            if status != 200:
                self.problem(f"shares_memory: register {status} {answer}")
            is_cut = rng.random() < 0.5
            if is_cut:
                timer = threading.Timer(rng.random() * 0.01, os.truncate, (f"/dev/shm/{memory.name}", rng.randrange(x.nbytes)))
                timer.start()
            for _ in range(5):
                status, answer = call("/v2/models/mlp/infer", ask)
                if status != 200 and not (is_cut and status == 400):
                    self.problem(f"shares_memory: {status} {answer}")
            if is_cut:
                timer.join()
            status, answer = call(f"{path}/unregister", b"")
            if status != 200:
                self.problem(f"shares_memory: unregister {status} {answer}")
        finally:
            connection.close()
            memory.close()
            memory.unlink()

    def models_come_and_go(self, rng):
        connection = self.connection()
        for call in ("load", "unload"):
            connection.request("POST", f"/v2/repository/models/spare/{call}", b"")
            answer = connection.getresponse()
            data = answer.read()
            if answer.status != 200:
                self.problem(f"models_come_and_go: {call} {answer.status} {data}")
            time.sleep(rng.random() * 0.1)
        connection.close()

    def asks_of_what_comes_and_goes(self, rng):
        connection = self.connection()
        body, fields = load.binary_body({"x": ("FP32", np.ones((1, 1024), FLOAT))})
        for _ in range(10):
            connection.request("POST", "/v2/models/spare/infer", body, fields)
            answer = connection.getresponse()
            data = answer.read()
            if answer.status not in (200, 404, 503):
                self.problem(f"asks_of_what_comes_and_goes: {answer.status} {data}")
            self.count(f"spare {answer.status}")
        try:
            self.grpc_infer("spare", np.ones((1, 1024), FLOAT)).result(timeout=60)
        except grpc.RpcError as error:
            if error.code() not in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNAVAILABLE):
                self.problem(f"asks_of_what_comes_and_goes: {error.code()} {error.details()}")
        connection.close()

    def changes_settings(self, rng):
        connection = self.connection()
        for path, body in (("/v2/logging", {"log_verbose_level": rng.randrange(2), "log_format": "default"}),
                           ("/v2/trace/setting", {"trace_level": [rng.choice(["OFF", "TIMESTAMPS", "TENSORS"])],
                                                  "trace_rate": "50"}),
                           ("/v2/models/tiny/trace/setting", {"trace_level": rng.choice([None, ["TIMESTAMPS"]])})):
            connection.request("POST", path, json.dumps(body))
            answer = connection.getresponse()
            data = answer.read()
            if answer.status != 200:
                self.problem(f"changes_settings: {path} {answer.status} {data}")
        connection.close()
        time.sleep(0.1)

    # What clients of the encrypted server do.

    def asks_encrypted(self, rng):
        trusted = ssl.create_default_context(cadata=self.certificates.all().decode())
        connection = http.client.HTTPSConnection("127.0.0.1", self.encrypted.http, timeout=60, context=trusted)
        for _ in range(rng.randrange(1, 10)):
            x = np.full((rng.choice([1, 2, 5000]), 16), rng.random(), FLOAT)
            got = self.infer(connection, "tiny", {"x": ("FP32", x)})["y"]
            if not np.array_equal(got, -x):
                self.problem(f"asks_encrypted: {x[0, 0]} gave {got[0, 0]}")
        connection.close()

    def asks_encrypted_by_grpc(self, rng):
        trusted = grpc.ssl_channel_credentials(self.certificates.all())
        # Without these the library would take a connection that is there already.
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.secure_channel(f"127.0.0.1:{self.encrypted.grpc}", trusted, options) as channel:
            stub = clients_test.service.GRPCInferenceServiceStub(channel)
            x = np.full((1, 16), rng.random(), FLOAT)
            for _ in range(rng.randrange(1, 10)):
                answer = stub.ModelInfer(self.grpc_request("tiny", x), timeout=60, wait_for_ready=True)
                if answer.raw_output_contents[0] != (-x).tobytes():
                    self.problem("asks_encrypted_by_grpc: a wrong answer")

    def breaks_tls(self, rng):
        port = rng.choice([self.encrypted.http, self.encrypted.grpc])
        client = socket.create_connection(("127.0.0.1", port), timeout=60)
        if rng.random() < 0.5:
            client.sendall(rng.choice(self.broken).request[:1000])
        else:
            open_to_all = ssl.create_default_context()
            open_to_all.check_hostname, open_to_all.verify_mode = False, ssl.CERT_NONE
            # Wrapped before it shakes hands: a failed handshake within `wrap_socket` would leave a closed socket here.
            client = open_to_all.wrap_socket(client, do_handshake_on_connect=False)
            # gRPC's server closes what does not say that it speaks HTTP/2.
            with contextlib.suppress(ssl.SSLError):
                client.do_handshake()
                client.sendall(rng.choice(self.broken).request[:rng.randrange(200)])
        time.sleep(rng.random() * 0.05)
        self.reset(client)

    def renews_certificates(self, _):
        self.certificates.renew()
        time.sleep(1.2)

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
                self.asks_of_an_ensemble, self.sends_broken_requests, self.breaks_http2, self.sends_no_message,
                self.shares_memory, self.models_come_and_go, self.asks_of_what_comes_and_goes, self.changes_settings,
                self.asks_encrypted, self.asks_encrypted_by_grpc, self.breaks_tls, self.renews_certificates,
                self.reloads, self.watches]
        threads = [threading.Thread(target=self.each_time, args=(one, i)) for i, one in enumerate(work)]
        for thread in threads:
            thread.start()
        memory, until = [], time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(min(seconds / 10, max(until - time.monotonic(), 0)))
            memory.append(self.memory())
            for server in (self.server, self.encrypted):
                if server.process.poll() is not None:
                    self.problem(f"a server has ended with {server.process.returncode}")
                    self.ends.set()
            if self.ends.is_set():
                break
        self.ends.set()
        for thread in threads:
            thread.join()
        return memory


    def is_ended_under_load(self):
        """Clients that obey `Connection: close` lose nothing."""
        body, fields = load.binary_body({"x": ("FP32", np.ones((1, 1024), FLOAT))})
        counts, ends = {"good": 0, "failed": 0, "closed": 0}, threading.Event()
        threads = [threading.Thread(target=figures.ask_on, args=(self.server.http, "/v2/models/mlp/infer", body, fields, ends, counts))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        code = self.server.stop()
        ends.set()
        for thread in threads:
            thread.join()
        if counts["failed"] > 0 or counts["good"] == 0:
            self.problem(f"is_ended_under_load: {counts}")
        self.counts["answers at the end"] = counts["good"]
        return code


class Certificates:
    """Some that are all trusted, one of which serves."""

    def __init__(self, folder, count=4):
        self.folder, self.count, self.current = folder, count, 0
        for i in range(count):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                            "-subj", f"/CN=soak {i}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                            f"{folder}/key{i}", "-out", f"{folder}/cert{i}"], check=True, stderr=subprocess.DEVNULL)
        self.renew()

    def all(self):
        return b"".join(open(f"{self.folder}/cert{i}", "rb").read() for i in range(self.count))

    def renew(self):
        for name in ("key", "cert"):
            shutil.copy(f"{self.folder}/{name}{self.current}", f"{self.folder}/{name}.new")
            os.rename(f"{self.folder}/{name}.new", f"{self.folder}/{name}")
        self.current = (self.current + 1) % self.count


def save_models(folder):
    figure_models.save_models(folder)
    for name in ("image", "flat", "busy", "small", "large"):
        shutil.rmtree(f"{folder}/{name}")
    shutil.copytree(f"{folder}/mlp", f"{folder}/spare")
    os.makedirs(f"{folder}/pair")
    with open(f"{folder}/pair/config.pbtxt", "w") as file:
        file.write("""platform: "ensemble" max_batch_size: 8
            input { name: "x" data_type: TYPE_FP32 dims: [ 16 ] } output { name: "z" data_type: TYPE_FP32 dims: [ 16 ] }
            ensemble_scheduling {
              step { model_name: "tiny" model_version: -1 input_map { key: "x" value: "x" } output_map { key: "y" value: "y" } }
              step { model_name: "tiny" model_version: -1 input_map { key: "x" value: "y" } output_map { key: "y" value: "z" } } }""")
    pairs = [("x", ["batch", 1]), ("before", ["batch", 1])]
    figure_models.save(f"{folder}/sum/1/model.onnx", [helper.make_node("Add", ["x", "before"], ["y"])], pairs,
                       [("y", ["batch", 1])])
    with open(f"{folder}/sum/config.pbtxt", "w") as file:
        file.write("max_batch_size: 8 sequence_batching { max_sequence_idle_microseconds: 3000000 "
                   "oldest { max_candidate_sequences: 64 } state { input_name: \"before\" output_name: \"y\" "
                   "data_type: TYPE_FP32 dims: [ 1 ] } }")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=clients_test.SERVER)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--growth", type=float, default=1.1,
                        help="of memory that is borne with; sanitizers keep what is freed, and need more than the default")
    options = parser.parse_args()
    clients_test.SERVER = options.server
    with tempfile.TemporaryDirectory() as folder:
        try:
            clients_test.stubs(folder)
        except unittest.SkipTest as missing:
            print(f"skipped: {missing}")
            return
        save_models(f"{folder}/models")
        certificates = Certificates(folder)
        # The library would tell of each handshake that fails, as many of these are to do.
        os.environ["GRPC_VERBOSITY"] = "NONE"
        server = Server("--model-repository", f"{folder}/models", "--model-control-mode=explicit", "--load-model=*",
                        "--drain-timeout=10", "--max-body-mb=16", "--allow-client-shm",
                        "--trace-config", f"triton,file={folder}/trace", drain_delay=1)
        encrypted = Server(f"{folder}/models/tiny/1/model.onnx", "--model-name=tiny", "--drain-timeout=10", "--tls-cert",
                           f"{folder}/cert", "--tls-key", f"{folder}/key")
        soak = Soak(server, encrypted, certificates)
        memory = soak.run(options.seconds)
        if server.process.poll() is None:
            until = time.monotonic() + 30
            while soak.pending() > 0 and time.monotonic() < until:
                time.sleep(0.1)
            if soak.pending() > 0:
                soak.problem(f"{soak.pending()} requests are left over")
        for code in (soak.is_ended_under_load(), encrypted.stop()):
            if code != 0:
                soak.problem(f"a server ended with {code}")
    # A third of the time is for plans, pools and caches to fill, which takes minutes: a short soak finds large leaks alone.
    settled, last = memory[len(memory) // 3], memory[-1]
    if last > settled * (options.growth if options.seconds >= 300 else max(options.growth, 1.5)) + 8:
        soak.problem(f"memory grew from {settled:.0f} to {last:.0f} MB")
    print(f"{options.seconds:.0f} s: {dict(sorted(soak.counts.items()))}")
    print(f"memory: {', '.join(f'{one:.0f}' for one in memory)} MB")
    for one, times in collections.Counter(soak.problems).most_common(20):
        print(f"{times} x {one}")
    sys.exit(1 if soak.problems else 0)


if __name__ == "__main__":
    main()
