#!/usr/bin/python3
"""Many clients at once, which do at random what they should and what they should not: inference while models are loaded and
unloaded, sequences that are ended twice or left, streams and connections that are cut anywhere, answers that nobody reads,
shared memory that goes away. Whatever is answered is right, or an error that this allows; the server is live all the time;
its memory and its file descriptors do not grow; and it ends when it is told to.

    tests/serving/random_clients.py [--server build/bin/onnx-serve] [--seconds 30] [--seed 1]

Needs what soak.py needs. What threads do depends on when they do it: a seed makes the same calls, but not the same order.
"""
import argparse
import http.client
import json
import os
import random
import socket
import sys
import tempfile
import threading
import time
import unittest
from multiprocessing import shared_memory

import broken_requests
import clients_test
import grpc
import numpy as np
import onnx
from clients_test import Server, TensorProto, save_model
from onnx import helper

PATIENCE = 60  # seconds for any answer


class Wrong(Exception):
    pass


def save_sum(folder):
    """y = the sum of the sequence's x so far, by implicit state."""
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 1])
    graph = helper.make_graph([helper.make_node("Add", ["x", "sum"], ["y"]), helper.make_node("Identity", ["y"], ["next"])],
                              "g", [value("x"), value("sum")], [value("y"), value("next")])
    os.makedirs(f"{folder}/1")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8), f"{folder}/1/model.onnx")
    with open(f"{folder}/config.pbtxt", "w") as file:
        file.write("""max_batch_size: 8
            sequence_batching { max_sequence_idle_microseconds: 3000000 oldest { max_candidate_sequences: 12 }
              state { input_name: "sum" output_name: "next" data_type: TYPE_FP32 dims: [ 1 ]
                initial_state { data_type: TYPE_FP32 dims: [ 1 ] zero_data: true name: "zero" } } }""")


class Client(threading.Thread):
    """One of those at the same time; ends at the first thing that is wrong."""

    def __init__(self, server, number, seed, until):
        super().__init__(daemon=True)
        self.server, self.number, self.until = server, number, until
        self.rng = random.Random(f"{seed} {number}")
        self.calls, self.problem = 0, ""
        self.connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=PATIENCE)
        self.channel = grpc.insecure_channel(f"127.0.0.1:{server.grpc}", options=[("grpc.use_local_subchannel_pool", 1)])
        self.stub = clients_test.service.GRPCInferenceServiceStub(self.channel)
        self.memory = shared_memory.SharedMemory(create=True, size=64)

    def run(self):
        work = [self.infers, self.infers, self.infers_by_grpc, self.loads, self.sequence, self.sequence_by_stream,
                self.cuts_a_stream, self.cuts_a_call, self.cuts_a_connection, self.is_broken, self.reads_slowly, self.memory_goes]
        try:
            while time.monotonic() < self.until:
                one = self.rng.choice(work)
                try:
                    one()
                except Exception as error:
                    self.problem = f"client {self.number}, {one.__name__}: {type(error).__name__}: {error}"
                    return
                self.calls += 1
        finally:
            self.channel.close()
            self.connection.close()
            self.memory.close()
            self.memory.unlink()

    def ask(self, path, body, allowed=(200,), method="POST"):
        self.connection.request(method, path, json.dumps(body) if isinstance(body, dict) else body)
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status not in allowed:
            raise Wrong(f"{path} {body}: expected {allowed}, got {answer.status} {data[:300]}")
        return answer.status, json.loads(data) if data else None

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.server.http), timeout=PATIENCE)

    # Models that come and go.

    def infers(self):
        model, values = self.rng.choice(["plus1", "plus2"]), [self.rng.randrange(1000) for _ in range(3)]
        status, answer = self.ask(f"/v2/models/{model}/infer", {
            "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": values}]}, (200, 404, 503))
        if status == 200 and answer["outputs"][0]["data"] != [one + int(model[-1]) for one in values]:
            raise Wrong(f"{model}: {values} gave {answer}")

    def request(self, model, value, **parameters):
        request = clients_test.pb.ModelInferRequest(model_name=model)
        shape = [1, 1] if model == "sum" else [1, 3]
        request.inputs.add(name="x", datatype="FP32", shape=shape)
        request.raw_input_contents.append(np.full(shape, value, np.float32).tobytes())
        for name, one in parameters.items():
            setattr(request.parameters[name], "bool_param" if isinstance(one, bool) else "int64_param", one)
        return request

    def infers_by_grpc(self):
        model, value = self.rng.choice(["plus1", "plus2"]), self.rng.randrange(1000)
        try:
            answer = self.stub.ModelInfer(self.request(model, value), timeout=PATIENCE)
        except grpc.RpcError as error:
            if error.code().name not in ("NOT_FOUND", "UNAVAILABLE"):
                raise Wrong(f"{model}: {error.code()} {error.details()}") from error
            return
        got = np.frombuffer(answer.raw_output_contents[0], np.float32).tolist()
        if got != [value + int(model[-1])] * 3:
            raise Wrong(f"{model}: {value} gave {got}")

    def loads(self):
        # More loads than unloads: the models are mostly there.
        call = self.rng.choice(["load", "load", "unload"])
        self.ask(f"/v2/repository/models/{self.rng.choice(['plus1', 'plus2'])}/{call}", b"")

    # Sequences. Two clients never have the same id.

    def sequence(self):
        key, total = self.number * 1_000_000 + self.rng.randrange(3) + 1, 0
        is_begun = False
        for i in range(self.rng.randrange(1, 6)):
            value = self.rng.randrange(100)
            start, end = i == 0 or self.rng.random() < 0.1, self.rng.random() < 0.2
            status, answer = self.ask("/v2/models/sum/infer", {
                "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 1], "data": [value]}],
                "parameters": {"sequence_id": key, "sequence_start": start, "sequence_end": end}}, (200, 400))
            total = value if start else total + value
            # One that was idle for too long is over, whatever the client thinks of it.
            if status == 400 and is_begun and not start:
                return
            if (status == 200) != (start or is_begun):
                raise Wrong(f"sequence {key}, start {start}, begun {is_begun}: {status} {answer}")
            if status == 200 and answer["outputs"][0]["data"] != [total]:
                raise Wrong(f"sequence {key}: expected {total}, got {answer}")
            is_begun = status == 200 and not end

    def sequence_by_stream(self):
        key, values = self.number * 1_000_000 + 10, [self.rng.randrange(100) for _ in range(self.rng.randrange(1, 20))]
        requests = [self.request("sum", value, sequence_id=key, sequence_start=i == 0, sequence_end=i == len(values) - 1)
                    for i, value in enumerate(values)]
        got = []
        for answer in self.stub.ModelStreamInfer(iter(requests), timeout=PATIENCE):
            if answer.error_message:
                raise Wrong(f"stream of {values}: {answer.error_message}")
            outputs = {one.name: raw for one, raw in zip(answer.infer_response.outputs, answer.infer_response.raw_output_contents)}
            got.append(float(np.frombuffer(outputs["y"], np.float32)[0]))
        if got != np.cumsum(values).tolist():
            raise Wrong(f"stream of {values} gave {got}")

    # What is cut.

    def cuts_a_stream(self):
        key = self.number * 1_000_000 + 20
        requests = (self.request("sum", 1, sequence_id=key, sequence_start=i == 0) for i in range(self.rng.randrange(1, 50)))
        answers = self.stub.ModelStreamInfer(requests, timeout=self.rng.choice([0.001, 0.01, PATIENCE]))
        try:
            for _ in range(self.rng.randrange(5)):
                next(answers, None)
        except grpc.RpcError as error:
            if error.code().name not in ("DEADLINE_EXCEEDED", "CANCELLED"):
                raise Wrong(f"stream: {error.code()} {error.details()}") from error
        answers.cancel()

    def cuts_a_call(self):
        call = self.stub.ModelInfer.future(self.request("slow", 1), timeout=self.rng.choice([0.001, 0.02, PATIENCE]))
        time.sleep(self.rng.random() / 50)
        call.cancel()

    def cuts_a_connection(self):
        data = broken_requests.request("/v2/models/slow/infer", broken_requests.infer_body(3))
        with self.socket() as one:
            one.sendall(data[:self.rng.randrange(1, len(data) + 1)])
            time.sleep(self.rng.random() / 50)

    def is_broken(self):
        broken = self.rng.choice(broken_requests.http_requests())
        at = self.rng.randrange(1, len(broken.request))
        with self.socket() as one:
            try:
                one.sendall(broken.request[:at])
                time.sleep(self.rng.random() / 100)
                one.sendall(broken.request[at:])
                one.shutdown(socket.SHUT_WR)
                answers = b""
                while more := one.recv(65536):
                    answers += more
            except ConnectionError:
                return  # refused before all of it was sent
        if broken_requests.statuses(answers) is None:
            raise Wrong(f"{broken.name}: {answers[:300]}")

    def reads_slowly(self):
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [3000, 3], "data": [1.5] * 9000}]}).encode()
        with self.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall(broken_requests.request("/v2/models/same/infer", body) * 3)
            for _ in range(self.rng.randrange(10)):
                if not one.recv(100):
                    raise Wrong("a slow reader is cut off")
                time.sleep(0.002)

    def memory_goes(self):
        name = f"r{self.number}"
        self.ask(f"/v2/systemsharedmemory/region/{name}/register", {"key": f"/{self.memory.name}", "offset": 0, "byte_size": 64},
                 (200, 400))
        values = np.array([[self.rng.randrange(100) for _ in range(3)]], np.float32)
        self.memory.buf[:12] = values.tobytes()
        where = lambda offset: {"shared_memory_region": name, "shared_memory_offset": offset, "shared_memory_byte_size": 12}
        is_short = self.rng.random() < 0.2
        if is_short:
            os.truncate(f"/dev/shm/{self.memory.name}", 8)
        status, _ = self.ask("/v2/models/same/infer", {
            "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "parameters": where(0)}],
            "outputs": [{"name": "y", "parameters": where(32)}]}, (400,) if is_short else (200,))
        if is_short:
            os.truncate(f"/dev/shm/{self.memory.name}", 64)
        elif bytes(self.memory.buf[32:44]) != values.tobytes():
            raise Wrong(f"{values} came back as {bytes(self.memory.buf[32:44])}")
        if self.rng.random() < 0.5:
            self.ask(f"/v2/systemsharedmemory/region/{name}/unregister", b"")


def resources(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024
    return resident, len(os.listdir(f"/proc/{server.process.pid}/fd"))


def run(server, seconds, seed):
    begin = time.monotonic()
    clients = [Client(server, number, seed, begin + seconds) for number in range(8)]
    for one in clients:
        one.start()
    settled, slowest = None, 0.0
    while time.monotonic() < begin + seconds and not any(one.problem for one in clients):
        asked = time.monotonic()
        server.call("GET", "/v2/health/live")
        slowest = max(slowest, time.monotonic() - asked)
        if settled is None and asked > begin + seconds / 3:
            settled = resources(server)
        time.sleep(0.05)
    for one in clients:
        one.join(2 * PATIENCE)
    problems = [one.problem for one in clients if one.problem]
    problems += [f"client {one.number} hangs" for one in clients if one.is_alive()]
    if problems:
        return "; ".join(problems)
    time.sleep(2)  # connections that were cut are noticed
    last = resources(server)
    print(f"{sum(one.calls for one in clients)} calls; the server was live within {slowest * 1e3:.0f} ms; {settled[0]:.0f} MB and "
          f"{settled[1]} descriptors after a third, {last[0]:.0f} MB and {last[1]} at the end")
    if last[0] > settled[0] * 1.1 + 16 or last[1] > settled[1]:
        return f"resources grew from {settled} to {last}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=clients_test.SERVER)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    clients_test.SERVER = options.server
    with tempfile.TemporaryDirectory() as folder:
        try:
            clients_test.stubs(folder)
        except unittest.SkipTest as missing:
            print(f"skipped: {missing}")
            return
        models = f"{folder}/models"
        for name, constant in (("plus1", 1.0), ("plus2", 2.0), ("same", None)):
            save_model(f"{models}/{name}/1/model.onnx", constant=constant, dims=("batch", 3))
        save_model(f"{models}/tiny/1/model.onnx", dims=("batch", 16))
        save_sum(f"{models}/sum")
        # x times itself, again and again: long enough to be cut off.
        names = ["x", *(f"p{i}" for i in range(20000)), "y"]
        nodes = [helper.make_node("Tanh", [a], [b]) for a, b in zip(names, names[1:])]
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 3])
        os.makedirs(f"{models}/slow/1")
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", [value("x")], [value("y")]),
                                    opset_imports=[helper.make_opsetid("", 16)], ir_version=8), f"{models}/slow/1/model.onnx")
        server = Server("--model-repository", models, "--model-control-mode=explicit", "--load-model=*", "--allow-client-shm")
        try:
            problem = run(server, options.seconds, options.seed)
        finally:
            code = server.stop()
    if code != 0:
        problem = f"{problem} the server ended with {code}"
    if problem:
        sys.exit(f"seed {options.seed}: {problem}")


if __name__ == "__main__":
    main()
