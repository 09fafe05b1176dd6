#!/usr/bin/python3
"""What the suites of other servers of the Open Inference Protocol ask of a server (Triton's for HTTP, gRPC, metrics, life
cycle, batching, sequences and time limits; KServe's and MLServer's for the protocol itself), asked in our own words of
onnx-serve. Where it answers otherwise on purpose, docs/serving.md says so.

    tests/serving/peers_test.py [--server build/bin/onnx-serve] [unittest's arguments]

Needs what clients_test.py needs.
"""
import base64
import json
import os
import re
import shutil
import socket
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import clients_test
import grpc
import numpy as np
import onnx
from clients_test import Server, ServerCase, TensorProto, save_model
from onnx import helper

SIZE = 1024  # of a row of the slow model


def save_slow(path, layers=600):
    """y = x, after products with the identity matrix that take some tenths of a second."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", SIZE]) for name in "xy")
    names = ["x", *(f"p{i}" for i in range(layers - 1)), "y"]
    nodes = [helper.make_node("MatMul", [a, "one"], [b]) for a, b in zip(names, names[1:])]
    one = helper.make_tensor("one", TensorProto.FLOAT, [SIZE, SIZE], np.eye(SIZE, dtype=np.float32).tobytes(), raw=True)
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y], [one]),
                                opset_imports=[helper.make_opsetid("", 16)], ir_version=8), path)


def save_sum(folder, config):
    """y = the sum of the sequence's x so far."""
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 1])
    graph = helper.make_graph([helper.make_node("Add", ["x", "sum"], ["y"])], "g", [value("x"), value("sum")], [value("y")])
    os.makedirs(f"{folder}/1")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8), f"{folder}/1/model.onnx")
    with open(f"{folder}/config.pbtxt", "w") as file:
        file.write("max_batch_size: 8 sequence_batching { " + config + """
            state { input_name: "sum" output_name: "y" data_type: TYPE_FP32 dims: [ 1 ] } }""")


class PeerCase(ServerCase):
    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.save(cls.models)
        cls.server = Server("--model-repository", cls.models, *cls.options)

    @classmethod
    def write_config(cls, model, text):
        with open(f"{cls.models}/{model}/config.pbtxt", "w") as file:
            file.write(text)

    def apart(self):
        """A connection of its own: those of http.client take one request at a time."""
        other = object.__new__(Server)
        other.__dict__.update(self.server.__dict__)
        other.connection = clients_test.http.client.HTTPConnection("127.0.0.1", self.server.http)
        self.addCleanup(other.connection.close)
        return other

    def rows(self, count=1, value=1.0, size=SIZE):
        return {"x": ("FP32", np.full((count, size), value, np.float32))}

    def waits_for(self, what, seconds=20):
        until = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), until, "it did not come")
            time.sleep(0.005)

    def metrics(self):
        text = self.apart().ask("GET", "/metrics")[1].decode()
        return {name: float(value) for name, value in re.findall(r"^([a-z]\S*) (\S+)$", text, re.M)}, text

    def metric(self, name, model, **labels):
        labels = ",".join(f'{key}="{value}"' for key, value in sorted({"model": model, "version": "1", **labels}.items()))
        return self.metrics()[0].get(f"{name}{{{labels}}}")


class Bodies(PeerCase):
    options = ("--max-body-mb=1",)

    @staticmethod
    def save(models):
        save_model(f"{models}/plain/1/model.onnx")
        save_model(f"{models}/whole/1/model.onnx", elem=TensorProto.INT64, dims=("batch", 1))

    def sends_chunks(self, path, chunks, fields=""):
        with socket.create_connection(("127.0.0.1", self.server.http), timeout=60) as one:
            one.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n{fields}\r\n".encode())
            one.sendall(b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n")
            answer = b""
            while more := one.recv(65536):
                answer += more
        return answer

    def test_raw_and_chunked(self):
        values = np.arange(8, dtype=np.float32).tobytes()
        for chunks in ([values], [values[i:i + 1] for i in range(len(values))]):
            answer = self.sends_chunks("/v2/models/plain/infer", chunks, "Inference-Header-Content-Length: 0\r\n")
            self.assertTrue(answer.startswith(b"HTTP/1.1 200") and answer.endswith(values), answer)

    def test_very_many_chunks(self):
        for path in ("/v2/repository/index", "/v2/logging", "/v2/models/plain/trace/setting", "/v2/models/plain/infer"):
            answer = self.sends_chunks(path, [b"A"] * 500_000)
            self.assertTrue(answer.startswith(b"HTTP/1.1 400"), answer)
            self.assertIn(b"failed to parse the request JSON buffer", answer)

    def test_depth_of_json(self):
        for depth, status in ((50, 200), (120, 400), (500_000, 413)):
            body = ('{"inputs":[{"name":"x","datatype":"INT64","shape":[1,1],"data":' + "[" * depth + "7" + "]" * depth + "}]}")
            answer, data = self.server.ask("POST", "/v2/models/whole/infer", body + " " * (depth if status == 413 else 0))
            self.assertEqual(answer.status, status, data)
            if status == 400:
                self.assertIn(b"JSON nesting depth exceeds maximum allowed limit (100)", data)
            self.server.connection.close()

    def test_sizes(self):
        for values, status in ((np.zeros((1 << 18) - 64, np.float32), 200), (np.zeros((1 << 18) + 64, np.float32), 413)):
            answer, data = self.server.ask("POST", "/v2/models/plain/infer", values.tobytes(),
                                           {"Inference-Header-Content-Length": "0"})
            self.assertEqual(answer.status, status, data[:300])
            self.server.connection.close()
        self.assertIn(b"exceeds the maximum allowed value", data)
        request = self.grpc_request("plain", {"x": ("FP32", np.zeros((1, 1 << 19), np.float32))})
        self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: self.stub.ModelInfer(request))
        self.server.call("GET", "/v2/health/live")

    def test_raw_and_typed_tensors_do_not_mix(self):
        request = self.grpc_request("plain", {"x": ("FP32", np.zeros((1, 1), np.float32))})
        request.inputs[0].contents.fp32_contents.append(1)
        self.assertIn("contents field must not be specified when using raw_input_contents for",
                      self.refused(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.stub.ModelInfer(request)))


class DataPlane(PeerCase):
    @staticmethod
    def save(models):
        for version in (1, 2):
            save_model(f"{models}/plus/{version}/model.onnx", constant=float(version))
        with open(f"{models}/plus/config.pbtxt", "w") as file:
            file.write("version_policy { all { } }")

    def test_versions(self):
        metadata = self.server.call("GET", "/v2/models/plus")
        self.assertEqual(metadata["versions"], ["1", "2"])
        self.assertEqual(metadata, {**metadata, "name": "plus", "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, -1]}],
                                    "outputs": [{"name": "y", "datatype": "FP32", "shape": [-1, -1]}]})
        body = {"id": "a7", "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [[1, 2]]}]}
        for path, version in (("plus", "2"), ("plus/versions/1", "1"), ("plus/versions/2", "2")):
            answer, data = self.server.ask("POST", f"/v2/models/{path}/infer", body)
            self.assertEqual(answer.headers["Content-Type"], "application/json")
            self.assertEqual(json.loads(data), {
                "id": "a7", "model_name": "plus", "model_version": version, "outputs": [
                    {"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [1 + int(version), 2 + int(version)]}]})
            request = self.grpc_request("plus", {"x": ("FP32", np.ones((1, 1), np.float32))})
            request.model_version, request.id = path.partition("/versions/")[2], "b8"
            got = self.stub.ModelInfer(request)
            self.assertEqual((got.model_name, got.model_version, got.id), ("plus", version, "b8"))

    def test_what_is_not_there(self):
        for path in ("/v2/models/no", "/v2/models/no/versions/1", "/v2/models/plus/versions/7", "/v2/models/no/ready",
                     "/v2/models/no/config", "/v2/models/no/stats"):
            self.assertIn("error", self.server.call("GET", path, status=404), path)
        body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 1], "data": [1]}]}
        for path in ("no", "plus/versions/7"):
            self.assertIn("Request for unknown model", self.server.call("POST", f"/v2/models/{path}/infer", body, 404)["error"])
        pb = clients_test.pb
        for call in (lambda: self.stub.ModelInfer(pb.ModelInferRequest(model_name="no")),
                     lambda: self.stub.ModelInfer(pb.ModelInferRequest(model_name="plus", model_version="7")),
                     lambda: self.stub.ModelMetadata(pb.ModelMetadataRequest(name="plus", version="7")),
                     lambda: self.stub.ModelConfig(pb.ModelConfigRequest(name="no"))):
            self.refused(grpc.StatusCode.NOT_FOUND, call)

    def test_control_by_clients_is_off(self):
        pb = clients_test.pb
        words = "explicit model load / unload is not allowed"
        for verb in ("load", "unload"):
            self.assertIn(words, self.server.call("POST", f"/v2/repository/models/plus/{verb}", status=503)["error"])
        for call in (lambda: self.stub.RepositoryModelLoad(pb.RepositoryModelLoadRequest(model_name="plus")),
                     lambda: self.stub.RepositoryModelUnload(pb.RepositoryModelUnloadRequest(model_name="plus"))):
            self.assertIn(words, self.refused(grpc.StatusCode.UNAVAILABLE, call))


class LifeCycle(PeerCase):
    options = ("--model-control-mode=explicit", "--load-model=*", "--metrics-names=triton")

    @staticmethod
    def save(models):
        save_model(f"{models}/plus/1/model.onnx", constant=1.0)
        save_model(f"{models}/other/1/model.onnx", constant=1.0)

    def load(self, name, status=200, **parameters):
        return self.apart().call("POST", f"/v2/repository/models/{name}/load", {"parameters": parameters}, status)

    def answer(self, model="plus", server=None):
        return float((server or self.server).infer(model, {"x": ("FP32", np.zeros((1, 1), np.float32))})["y"][0, 0])

    def file(self, constant):
        path = f"{self.folder}/elsewhere/model.onnx"
        save_model(path, constant=constant)
        with open(path, "rb") as file:
            return base64.b64encode(file.read()).decode()

    def test_what_a_refused_load_leaves(self):
        cases = [({"config": "{"}, 400), ({"config": '{"backend":"nothing"}'}, 501), ({"config": '{"max_batch_size":-1}'}, 400),
                 ({"config": '{"version_policy":{"latest":{"num_versions":0}}}'}, 400),
                 ({"file:1/model.onnx": self.file(5.0)}, 400),
                 ({"config": "{}", "file:../../model.onnx": self.file(5.0)}, 400),
                 ({"config": "{}", "file:1/../../../model.onnx": self.file(5.0)}, 400),
                 ({"config": "{}", "file:1/model.onnx": "AAAA"}, 400)]
        for parameters, status in cases:
            self.load("plus", status, **parameters)
            self.assertEqual(self.answer(), 1)
        self.assertFalse(os.path.exists(f"{self.folder}/model.onnx"))

    def test_files_that_come_with_a_load(self):
        self.load("plus", **{"config": "{}", "file:3/model.onnx": self.file(3.0)})
        self.assertEqual(self.answer(), 3)
        self.assertEqual(self.server.call("GET", "/v2/models/plus")["versions"], ["3"])
        self.load("plus")
        self.assertEqual((self.answer(), self.server.call("GET", "/v2/models/plus")["versions"]), (1, ["1"]))

    def test_files_that_are_gone(self):
        save_model(f"{self.models}/gone/1/model.onnx", constant=4.0)
        self.load("gone")
        os.rename(f"{self.models}/gone", f"{self.folder}/gone")
        self.assertIn("failed to load 'gone', failed to poll from model repository", self.load("gone", 404)["error"])
        self.assertEqual(self.answer("gone"), 4)
        self.server.call("POST", "/v2/repository/models/gone/unload")
        self.server.call("GET", "/v2/models/gone/ready", status=503)
        self.assertNotIn("gone", {one["name"] for one in self.server.call("POST", "/v2/repository/index", {"ready": True})})

    def test_metrics_follow(self):
        name = "nv_model_load_duration_secs"
        save_model(f"{self.models}/brief/1/model.onnx")
        self.load("brief")
        self.assertGreater(self.metric(name, "brief"), 0)
        self.server.call("POST", "/v2/repository/models/brief/unload")
        self.assertIsNone(self.metric(name, "brief"))

    def test_loads_and_unloads_at_once(self):
        until, wrong = time.monotonic() + 3, []

        def work(call):
            mine = self.apart()
            while time.monotonic() < until:
                answer, data = call(mine)
                if answer not in (200, 404, 503):
                    wrong.append((answer, data))
        infer = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 1], "data": [0]}]}

        def control(verb):
            return lambda mine: (mine.ask("POST", f"/v2/repository/models/other/{verb}")[0].status, "")

        def asks(mine):
            answer, data = mine.ask("POST", "/v2/models/other/infer", infer)
            is_right = answer.status != 200 or json.loads(data)["outputs"][0]["data"] == [1]
            return answer.status if is_right else 0, data
        threads = [threading.Thread(target=work, args=[call])
                   for call in (control("load"), control("load"), control("unload"), asks, asks)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(wrong, [])
        self.load("other")
        self.assertEqual(self.answer("other"), 1)


class Batching(PeerCase):
    options = ("--metrics-names=triton",)

    @classmethod
    def save(cls, models):
        save_slow(f"{models}/dynamic/1/model.onnx")
        for name in ("single", "short", "ranked"):
            shutil.copytree(f"{models}/dynamic", f"{models}/{name}")
        one = "instance_group { count: 1 kind: KIND_CPU } "
        cls.write_config("single", one)
        cls.write_config("dynamic", one + "max_batch_size: 4 dynamic_batching { preferred_batch_size: [ 4 ] }")
        cls.write_config("short", one + "max_batch_size: 1 dynamic_batching { default_queue_policy { max_queue_size: 2 } }")
        cls.write_config("ranked", one + "max_batch_size: 1 dynamic_batching { priority_levels: 2 default_priority_level: 2 }")

    def busy(self, model, pool):
        """One request runs; what comes waits."""
        first = pool.submit(self.apart().infer, model, self.rows())
        self.waits_for(lambda: self.metric("sardonyx_requests_pending", model) == 1)
        return first

    def test_what_waits_runs_together(self):
        with ThreadPoolExecutor(9) as pool:
            first = self.busy("dynamic", pool)
            others = [pool.submit(self.apart().infer, "dynamic", self.rows(value=i)) for i in range(8)]
            self.waits_for(lambda: self.metric("nv_inference_pending_request_count", "dynamic") == 8)
            first.result()
            for i, one in enumerate(others):
                np.testing.assert_array_equal(one.result()["y"], np.full((1, SIZE), i))
        stats = self.server.call("GET", "/v2/models/dynamic/stats")["model_stats"][0]
        self.assertEqual((stats["inference_count"], stats["execution_count"]), (9, 3))
        self.assertEqual({one["batch_size"]: one["compute_infer"]["count"] for one in stats["batch_stats"]}, {1: 1, 4: 2})
        self.assertEqual(self.metric("nv_inference_pending_request_count", "dynamic"), 0)
        for name, value in (("nv_inference_request_success", 9), ("nv_inference_count", 9), ("nv_inference_exec_count", 3)):
            self.assertEqual(self.metric(name, "dynamic"), value)

    def test_a_full_queue_and_a_wait_that_is_over(self):
        with ThreadPoolExecutor(3) as pool:
            requests = [self.busy("short", pool)]
            requests += [pool.submit(self.apart().infer, "short", self.rows()) for _ in range(2)]
            self.waits_for(lambda: self.metric("nv_inference_pending_request_count", "short") == 2)
            with self.assertRaisesRegex(RuntimeError, "Exceeds maximum queue size"):
                self.server.infer("short", self.rows())
            for one in requests:
                np.testing.assert_array_equal(one.result()["y"], self.rows()["x"][1])
            first = self.busy("short", pool)
            with self.assertRaisesRegex(RuntimeError, "Request timeout expired"):
                self.server.infer("short", self.rows(), timeout=1000)
            first.result()
        self.assertEqual(self.metric("nv_inference_request_failure", "short", reason="REJECTED"), 2)

    def test_priorities(self):
        done = []

        def ask(rank):
            self.apart().infer("ranked", self.rows(), priority=rank)
            done.append(rank)
        with ThreadPoolExecutor(5) as pool:
            first = self.busy("ranked", pool)
            for count, rank in enumerate([2, 2, 1]):
                pool.submit(ask, rank)
                self.waits_for(lambda count=count: self.metric("nv_inference_pending_request_count", "ranked") == count + 1)
            first.result()
        self.assertEqual(done, [1, 2, 2])

    def test_time_limits_of_clients(self):
        pb = clients_test.pb
        request = self.grpc_request("single", self.rows())
        for call in (lambda: self.stub.ModelInfer(request, timeout=0.002),
                     lambda: next(self.stub.ModelStreamInfer(iter([request]), timeout=0.002)),
                     lambda: self.stub.ModelMetadata(pb.ModelMetadataRequest(name="single"), timeout=1e-9),
                     lambda: self.stub.RepositoryIndex(pb.RepositoryIndexRequest(), timeout=1e-9)):
            self.refused(grpc.StatusCode.DEADLINE_EXCEEDED, call)
        self.assertTrue(self.stub.ServerLive(pb.ServerLiveRequest(), timeout=5).live)
        other = self.apart()
        other.connection.timeout = 0.002
        with self.assertRaises(socket.timeout):
            other.infer("single", self.rows())
        other.connection.close()
        self.waits_for(lambda: self.metric("sardonyx_requests_pending", "single") == 0)
        np.testing.assert_array_equal(self.grpc_infer("single", self.rows())["y"], self.rows()["x"][1])

    def test_metrics_have_one_help_and_type_each(self):
        _, text = self.metrics()
        for kind in ("HELP", "TYPE"):
            names = re.findall(rf"^# {kind} (\S+)", text, re.M)
            self.assertEqual(len(names), len(set(names)), kind)
        for name in ("request_duration_us", "queue_duration_us", "compute_input_duration_us", "compute_infer_duration_us",
                     "compute_output_duration_us"):
            self.assertIn(f"# TYPE nv_inference_{name} counter", text)
        for name in ("nv_cpu_utilization", "nv_cpu_memory_total_bytes", "nv_cpu_memory_used_bytes"):
            self.assertIn(f"# TYPE {name} gauge", text)


class Sequences(PeerCase):
    @staticmethod
    def save(models):
        save_sum(f"{models}/sum", "max_sequence_idle_microseconds: 60000000 oldest { max_candidate_sequences: 4 }")
        save_sum(f"{models}/brief", "max_sequence_idle_microseconds: 200000")

    def ask(self, infer, value, key, start=False, end=False, model="sum", count=1):
        got = infer(model, self.rows(count, value, 1), sequence_id=key, sequence_start=start, sequence_end=end)
        return float(got["y"][0, 0])

    def test_begin_and_end(self):
        for infer, key in ((self.server.infer, 5), (self.grpc_infer, 6), (self.server.infer, "five"), (self.grpc_infer, "six")):
            self.assertEqual(self.ask(infer, 1, key, start=True), 1)
            self.assertEqual(self.ask(infer, 2, key), 3)
            self.assertEqual(self.ask(infer, 10, key, start=True), 10)  # anew
            self.assertEqual(self.ask(infer, 1, key, end=True), 11)
            with self.assertRaisesRegex((RuntimeError, grpc.RpcError), "must specify the START flag on the first request"):
                self.ask(infer, 1, key)
            self.assertEqual(self.ask(infer, 7, key, start=True, end=True), 7)  # of one request

    def test_refusals(self):
        cases = [(0, 1, "non-zero or non-empty correlation ID"), ("", 1, "non-zero or non-empty correlation ID"),
                 (9, 2, "must specify batch-size 1 due to requirements of sequence batcher"), ("a" * 129, 1, "at most 128 bytes")]
        for key, count, message in cases:
            for infer in (self.server.infer, self.grpc_infer):
                with self.assertRaisesRegex((RuntimeError, grpc.RpcError), message):
                    self.ask(infer, 1, key, start=True, count=count)

    def test_one_that_is_idle_is_over(self):
        self.assertEqual(self.ask(self.server.infer, 1, 3, start=True, model="brief"), 1)
        time.sleep(0.5)
        with self.assertRaisesRegex(RuntimeError, "must specify the START flag"):
            self.ask(self.server.infer, 1, 3, model="brief")

    def test_more_than_have_a_place(self):
        def whole(key):
            mine, got = self.apart(), []
            infer = mine.infer if key % 2 else self.grpc_infer
            for i in range(6):
                got.append(self.ask(infer, key, key, start=i == 0, end=i == 5))
            return got
        with ThreadPoolExecutor(16) as pool:
            for key, got in zip(range(100, 116), pool.map(whole, range(100, 116))):
                self.assertEqual(got, [key * (i + 1) for i in range(6)])


class Ends(PeerCase):
    @classmethod
    def save(cls, models):
        save_slow(f"{models}/slow/1/model.onnx")
        cls.write_config("slow", "instance_group { count: 1 kind: KIND_CPU }")
        save_sum(f"{models}/sum", "")

    def test_what_was_accepted_is_answered(self):
        idle = self.apart()
        idle.call("GET", "/v2/health/ready")
        with ThreadPoolExecutor(8) as pool:
            requests = [pool.submit(self.apart().infer, "slow", self.rows(value=i)) for i in range(3)]
            requests += [pool.submit(self.grpc_infer, "slow", self.rows(value=i)) for i in range(3, 6)]
            self.waits_for(lambda: self.metric("sardonyx_requests_pending", "slow") == 6)
            self.server.process.terminate()
            for i, one in enumerate(requests):
                np.testing.assert_array_equal(one.result()["y"], np.full((1, SIZE), i))
        self.assertEqual(self.server.process.wait(timeout=5), 0)  # the idle connection does not delay it
        type(self).server = None


class SlowNetwork:
    """Passes what a client sends on at once, and what is answered at a rate, with little space between."""

    def __init__(self, port, rate):
        self.port, self.rate = port, rate
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket()
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
            server.connect(("127.0.0.1", self.port))
            threading.Thread(target=self.passes, args=[client, server, 0], daemon=True).start()
            threading.Thread(target=self.passes, args=[server, client, self.rate], daemon=True).start()

    @staticmethod
    def passes(source, to, rate):
        try:
            while data := source.recv(1 << 14):
                to.sendall(data)
                if rate:
                    time.sleep(len(data) / rate)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class LateAnswers(PeerCase):
    @staticmethod
    def save(models):
        save_model(f"{models}/plain/1/model.onnx")

    def test_what_is_on_its_way_at_the_end_arrives(self):
        network = SlowNetwork(self.server.grpc, 500_000)
        channel = grpc.insecure_channel(f"127.0.0.1:{network.listener.getsockname()[1]}")
        request = self.grpc_request("plain", {"x": ("FP32", np.arange(1 << 19, dtype=np.float32).reshape(1, -1))})
        answer = clients_test.service.GRPCInferenceServiceStub(channel).ModelInfer.future(request)
        self.waits_for(lambda: self.metric("sardonyx_requests_succeeded_total", "plain") == 1)
        self.server.process.terminate()
        self.assertEqual(answer.result().raw_output_contents, request.raw_input_contents)
        self.assertEqual(self.server.process.wait(timeout=10), 0)
        type(self).server = None
        channel.close()
        network.listener.close()


if __name__ == "__main__":
    if "--server" in sys.argv:
        at = sys.argv.index("--server")
        clients_test.SERVER = sys.argv[at + 1]
        del sys.argv[at : at + 2]
    unittest.main()
