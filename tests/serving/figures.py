#!/usr/bin/python3
"""Measures onnx-serve: the server on one core, clients on another, in turns with nginx's `return 200`.

    tests/serving/figures.py [--server build/bin/onnx-serve] [FIGURE...]

Needs Debian's nghttp2-client (h2load), nginx, python3-onnx and python3-numpy. Says what was measured and decides
nothing: other load on the machine moves every figure.
"""
import argparse
import contextlib
import http.client
import json
import os
import resource
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

import load
import numpy as np
from figure_models import save_large, save_models, save_small

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROUNDS = 5


class Server:
    def __init__(self, options, *arguments, cores="0"):
        self.folder = tempfile.mkdtemp()
        port_file = f"{self.folder}/port"
        self.process = subprocess.Popen(
            ["taskset", "-c", cores, options.server, "--http-port=0", "--grpc-port=0", f"--port-file={port_file}",
             "--threads=1", "--io-threads=1", f"--log-file={self.folder}/log", *arguments])
        while not os.path.exists(port_file) or not open(port_file).read().endswith("\n"):
            if self.process.poll() is not None:
                sys.exit(f"the server has ended: {open(self.folder + '/log').read()}")
            time.sleep(0.01)
        self.port, self.grpc_port = (int(port) for port in open(port_file).read().split()[:2])

    def status(self, name):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1024

    def cpu_ns(self):
        total = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(FileNotFoundError):
                with open(f"/proc/{self.process.pid}/task/{task}/schedstat") as file:
                    total += int(file.read().split()[0])
        return total

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


@contextlib.contextmanager
def serving(options, *arguments, cores="0"):
    server = Server(options, *arguments, cores=cores)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def nginx(size):
    """Answers what a server that does nothing would, from the same core."""
    folder = tempfile.mkdtemp()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(f"""daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
            events {{ worker_connections 4096; }}
            http {{ access_log off; keepalive_requests 100000000; client_body_temp_path {folder}/b;
                   proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
                   scgi_temp_path {folder}/s; client_max_body_size 0; client_body_buffer_size 1m;
                   server {{ listen 127.0.0.1:{port}; location / {{ return 200 "{'x' * size}"; }} }} }}""")
    process = subprocess.Popen(["taskset", "-c", "0", "nginx", "-p", folder, "-c", f"{folder}/nginx.conf"],
                               stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


def binary_request(shape, data, name="x"):
    head = json.dumps({"inputs": [{"name": name, "datatype": "FP32", "shape": shape,
                                   "parameters": {"binary_data_size": len(data)}}],
                       "parameters": {"binary_data_output": True}}).encode()
    return head + data, {"Inference-Header-Content-Length": str(len(head)),
                         "Content-Type": "application/octet-stream"}


def h2load(url, body, headers, connections, requests=None, seconds=None, rate=None):
    """Requests per second, and the time of each request in microseconds with its status."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/body", "wb") as file:
            file.write(body)
        protocol = [] if headers.get("Content-Type") == "application/grpc" else ["--h1"]
        command = ["taskset", "-c", "1", "h2load", *protocol, "-t1", f"-c{connections}", f"--log-file={folder}/log",
                   "-d", f"{folder}/body"]
        command += [f"--rps={rate / connections:.2f}"] if rate else []
        command += [f"-n{requests}"] if requests else [f"-D{seconds}", "--warm-up-time=1"]
        for name, value in headers.items():
            command += ["-H", f"{name}: {value}"]
        out = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
        rate = float(next(line for line in out.splitlines() if line.startswith("finished in")).split()[3])
        lines = [line.split() for line in open(f"{folder}/log")]
    return rate, np.array([int(line[2]) for line in lines]), np.array([int(line[1]) for line in lines])


def grpc_request(model, shape, data):
    """A framed ModelInferRequest, and its headers."""
    def field(number, payload):
        size, length = len(payload), b""
        while size > 127:
            length += bytes([size & 127 | 128])
            size >>= 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + payload
    tensor = field(1, b"x") + field(2, b"FP32") + field(3, bytes(shape))
    message = field(1, model.encode()) + field(5, tensor) + field(7, data)
    return (b"\0" + struct.pack(">I", len(message)) + message,
            {"Content-Type": "application/grpc", "te": "trailers"})


def post(connection, path, body, headers=None):
    connection.request("POST", path, body, headers or {})
    answer = connection.getresponse()
    return answer.status, answer.read()


def median(values):
    return statistics.median(values)


def tiny(options, models):
    """A tiny model, one connection: p50 beside nginx, in turns."""
    body, headers = binary_request([1, 16], np.zeros(16, np.float32).tobytes())
    with serving(options, "--model-repository", models) as server, nginx(200) as port:
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(np.median(h2load(f"http://127.0.0.1:{server.port}/v2/models/tiny/infer", body, headers, 1,
                                         requests=20000)[1]))
            theirs.append(np.median(h2load(f"http://127.0.0.1:{port}/", body, headers, 1, requests=20000)[1]))
    print(f"tiny, 1 connection: p50 {median(ours):.0f} us, nginx {median(theirs):.0f} us; "
          f"added {median(ours) - median(theirs):.0f} us, {median(ours) / median(theirs):.2f} times")


def capacity(options, models):
    """A tiny model, 32 connections: requests per second of a core, beside nginx."""
    body, headers = binary_request([1, 16], np.zeros(16, np.float32).tobytes())
    with serving(options, "--model-repository", models) as server, nginx(200) as port:
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(h2load(f"http://127.0.0.1:{server.port}/v2/models/tiny/infer", body, headers, 32, seconds=3)[0])
            theirs.append(h2load(f"http://127.0.0.1:{port}/", body, headers, 32, seconds=3)[0])
    print(f"tiny, 32 connections: {median(ours):.0f}/s, nginx {median(theirs):.0f}/s, "
          f"{median(ours) / median(theirs):.2f} of it")


def grpc(options, models):
    """A tiny model over gRPC."""
    body, headers = grpc_request("tiny", [1, 16], np.zeros(16, np.float32).tobytes())
    with serving(options, "--model-repository", models) as server:
        url = f"http://127.0.0.1:{server.grpc_port}/inference.GRPCInferenceService/ModelInfer"
        alone = [np.median(h2load(url, body, headers, 1, requests=5000)[1]) for _ in range(ROUNDS)]
        many = [h2load(url, body, headers, 32, seconds=3)[0] for _ in range(3)]
        stats = http.client.HTTPConnection("127.0.0.1", server.port)
        stats.request("GET", "/v2/models/tiny/stats")
        counts = json.loads(stats.getresponse().read())["model_stats"][0]["inference_stats"]
    # Those that are under way when the time is up are cancelled.
    assert counts["fail"]["count"] <= 3 * 32 and counts["success"]["count"] > 5000, counts
    print(f"tiny over gRPC: 1 connection p50 {median(alone):.0f} us; 32 connections {median(many):.0f}/s")


def batching(options, models):
    """3 x 1024 MLP at 32 connections, batched and not."""
    body, headers = binary_request([1, 1024], np.ones(1024, np.float32).tobytes())
    rates = {16: [], 32: [], 0: []}
    with contextlib.ExitStack() as stack:
        servers = {size: stack.enter_context(serving(options, "--model-repository", models,
                                                     f"--default-max-batch-size={size}")) for size in rates}
        for _ in range(3):
            for size, server in servers.items():
                rates[size].append(h2load(f"http://127.0.0.1:{server.port}/v2/models/mlp/infer", body, headers, 32,
                                          seconds=3)[0])
    alone = median(rates[0])
    print(f"MLP, 32 connections: unbatched {alone:.0f}/s, at most 16 together {median(rates[16]):.0f}/s "
          f"({median(rates[16]) / alone:.2f} times), 32 {median(rates[32]):.0f}/s ({median(rates[32]) / alone:.2f} times)")


def image(options, models):
    """1 x 3 x 224 x 224 as JSON and as bytes."""
    pixels = np.random.default_rng(2).random((1, 3, 224, 224), np.float32)
    body, headers = binary_request([1, 3, 224, 224], pixels.tobytes())
    text = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3, 224, 224],
                                   "data": [round(float(v), 6) for v in pixels.reshape(-1)]}]}).encode()
    times = {"binary": [], "JSON": []}
    with serving(options, "--model-repository", models) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        for _ in range(41):
            for name, one in (("binary", (body, headers)), ("JSON", (text, {}))):
                begin = time.perf_counter()
                status, answer = post(connection, "/v2/models/image/infer", *one)
                assert status == 200, answer
                times[name].append(1e3 * (time.perf_counter() - begin))
    print(f"image: binary {median(times['binary']):.2f} ms, JSON of {len(text) / 1e6:.2f} MB "
          f"{median(times['JSON']):.2f} ms: {median(times['JSON']) - median(times['binary']):.2f} ms more")


def body(options, models):
    """Peak memory of a request of 256 MB."""
    data, headers = binary_request([64 << 20], bytes(256 << 20))
    with serving(options, "--model-repository", models) as server:
        before = server.status("VmRSS")
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        status, answer = post(connection, "/v2/models/flat/infer", data, headers)
        assert status == 200, answer
        peak = server.status("VmHWM") - before
    print(f"256 MB body: {peak:.0f} MB more at the peak, {peak / 256:.2f} times it")


def idle(options, models):
    """Memory of 10,000 connections that ask for nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 30000), hard))
    with serving(options, "--model-repository", models) as server:
        before = server.status("VmRSS")
        connections = []
        for i in range(10000):
            one = socket.create_connection(("127.0.0.1", server.port))
            if i % 2:  # half of them have asked once
                one.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n")
                one.recv(4096)
            connections.append(one)
        time.sleep(1)
        after = server.status("VmRSS")
        tiny_body, headers = binary_request([1, 16], np.zeros(16, np.float32).tobytes())
        rate = h2load(f"http://127.0.0.1:{server.port}/v2/models/tiny/infer", tiny_body, headers, 32, seconds=3)[0]
        for one in connections:
            one.close()
        time.sleep(0.5)
        alone = h2load(f"http://127.0.0.1:{server.port}/v2/models/tiny/infer", tiny_body, headers, 32, seconds=3)[0]
    print(f"10,000 idle connections: {after - before:.0f} MB; beside them {rate:.0f}/s, without {alone:.0f}/s")


def overload(options, models):
    """A queue of 8 and requests at three times the rate that the model can serve: answers, refusals. h2load sends
    in bursts of one request for each connection: more of them would leave the server idle in between."""
    data = np.full((1, 1024), 0.01, np.float32).tobytes()
    body_, headers = binary_request([1, 1024], data)
    with serving(options, "--model-repository", models) as server:
        url = f"http://127.0.0.1:{server.port}/v2/models/busy/infer"
        post(http.client.HTTPConnection("127.0.0.1", server.port), "/v2/models/busy/infer", body_, headers)
        rate, _, _ = h2load(url, body_, headers, 4, seconds=4)
        before = server.status("VmRSS")
        total, times, status = h2load(url, body_, headers, 16, seconds=4, rate=3 * rate)
        good = np.sum(status == 200) / len(status) * total
        refused = times[status == 429]
        after = server.status("VmRSS")
    print(f"overload: capacity {rate:.0f}/s; asked {total:.0f}/s, answered {good:.0f}/s ({good / rate:.2f}); refusals "
          f"p50 {np.median(refused):.0f} us, p99 {np.percentile(refused, 99):.0f} us; memory {after - before:+.1f} MB; "
          f"statuses {sorted(set(status.tolist()))}")


def gone(options, models):
    """How soon the core is free once a client has disconnected, and once a deadline has passed."""
    data = np.full((1024, 1024), 1e-3, np.float32).tobytes()
    body_, headers = binary_request([1024, 1024], data)
    request = ("POST /v2/models/slow/infer HTTP/1.1\r\nHost: x\r\n" +
               "".join(f"{name}: {value}\r\n" for name, value in headers.items()) +
               f"Content-Length: {len(body_)}\r\n\r\n").encode() + body_
    times = []
    with serving(options, "--model-repository", models) as server:
        for _ in range(ROUNDS):
            client = socket.create_connection(("127.0.0.1", server.port))
            client.sendall(request)
            time.sleep(0.5)
            # A reset is what a client that dies sends.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            begin, last = time.perf_counter(), server.cpu_ns()
            client.close()
            while True:
                time.sleep(0.002)
                now = server.cpu_ns()
                if now - last < 200_000:  # less than a tenth of the time
                    break
                last = now
            times.append(1e3 * (time.perf_counter() - begin))
    print(f"client gone: core free after {median(times):.1f} ms, at most {max(times):.1f} ms (looked at every 2 ms)")


def mixed(options, models):
    """Lengths of 16 to 128 tokens at random, 32 connections: padded and run as one batch, batched where lengths are the same, and
    alone, which is what closing a batch at each change of shape comes to."""
    rng = np.random.default_rng(5)
    requests = {"bert": [], "padded": []}
    for length in rng.integers(16, 129, 400):
        ids = rng.integers(0, 1000, (1, length), np.int64)
        body_, headers = load.binary_body({"input_ids": ("INT64", ids), "attention_mask": ("INT64", np.ones_like(ids))})
        for model, ready in requests.items():
            ready.append(load.http_request(f"/v2/models/{model}/infer", body_, headers))
    rates = {"alone": [], "same": [], "padded": []}
    with serving(options, "--model-repository", models) as server, \
            serving(options, "--model-repository", models, "--default-max-batch-size=0") as single:
        for _ in range(4):  # the first for plans
            rates["alone"].append(load.closed_loop(single.port, requests["bert"], 32, 3))
            rates["same"].append(load.closed_loop(server.port, requests["bert"], 32, 3))
            rates["padded"].append(load.closed_loop(server.port, requests["padded"], 32, 3))
    alone, same, padded = (median(rates[name][1:]) for name in rates)
    print(f"BERT (2 layers of 128), 16 to 128 tokens: alone {alone:.0f}/s, batched at the same length {same:.0f}/s "
          f"({same / alone:.2f} times), padded {padded:.0f}/s ({padded / alone:.2f} times)")


def in_process(options, models, model):
    """Seconds of a run without a server, on the server's core."""
    out = subprocess.run(["taskset", "-c", "0", os.path.join(os.path.dirname(options.server), "onnx-run"), "bench",
                          f"{models}/{model}/1/model.onnx", "--threads", "1", "--duration", "2", "--json"],
                         capture_output=True, text=True, check=True).stdout
    return json.loads(out)["ours"]["latency"]["mean_s"]


def make_last(options, models, model, seconds=5e-3):
    """Saves `model` with as many products as take that long here."""
    save, products = {"small": save_small, "large": save_large}[model], 12
    for _ in range(2):
        save(models, products)
        products = max(1, round(products * seconds / in_process(options, models, model)))
    save(models, products)


def milliseconds(options, models):
    """A model of 5 ms, two connections: requests per second beside runs in process, in turns."""
    for model, shape in (("small", [1, 1024]), ("large", [1, 3, 224, 224])):
        make_last(options, models, model)
        body_, headers = binary_request(shape, np.full(shape, 0.01, np.float32).tobytes())
        request = [load.http_request(f"/v2/models/{model}/infer", body_, headers)]
        shares, runs = [], []
        for _ in range(ROUNDS):
            runs.append(in_process(options, models, model))
            with serving(options, "--model-repository", models) as server:
                load.closed_loop(server.port, request, 2, 0.5)
                shares.append(load.closed_loop(server.port, request, 2, 3) * runs[-1])
        print(f"{model}, bodies of {len(body_) / 1e3:.0f} KB: a run {1e3 * median(runs):.2f} ms in process; served "
              f"{100 * median(shares):.1f} % of that rate (of each round: {', '.join(f'{one:.3f}' for one in shares)})")


def traced_runs(file):
    """Begin and end of each traced request's run, by the clock of time.perf_counter(), in the order in which requests came."""
    events = {}
    for one in json.loads(open(file).read().rstrip().rstrip("]") + "]"):
        for stamp in one.get("timestamps", []):
            events.setdefault(one["id"], {})[stamp["name"]] = stamp["ns"] * 1e-9
    runs = [(one["HTTP_RECV_START"], one["COMPUTE_START"], one["COMPUTE_END"]) for one in events.values()]
    return np.array(sorted(runs))[:, 1:]


def poisson(options, models):
    """Arrivals at random at 80 % of capacity: p99 beside that of an ideal queue of the same requests, each of which comes when it
    was asked and takes as long as its run took. The client has a core of its own; where it asks late, that is told."""
    make_last(options, models, "small")
    shape = [1, 1024]
    body_, headers = binary_request(shape, np.full(shape, 0.01, np.float32).tobytes())
    request = load.http_request("/v2/models/small/infer", body_, headers)
    cores = os.sched_getaffinity(0)
    ratios = []
    with tempfile.TemporaryDirectory() as folder, \
            serving(options, "--model-repository", models, "--trace-config", f"triton,file={folder}/trace",
                    "--trace-config", "triton,log-frequency=0") as server:
        os.sched_setaffinity(0, {1})
        stats = http.client.HTTPConnection("127.0.0.1", server.port)
        def trace(level):
            status, answer = post(stats, "/v2/trace/setting",
                                  json.dumps({"trace_level": [level], "trace_rate": "1", "log_frequency": "0"}))
            assert status == 200, answer
        capacity_ = median(load.closed_loop(server.port, [request], 2, 2) for _ in range(3))
        trace("TIMESTAMPS")
        before = 0
        for seed in range(ROUNDS):
            times = np.cumsum(np.random.default_rng(seed).exponential(1 / (0.8 * capacity_), int(8 * capacity_)))
            done = np.array(sorted(load.at_times(server.port, request, times), key=lambda one: one[1]))
            time.sleep(0.2)
            runs = traced_runs(f"{folder}/trace")[before:]
            before += len(runs)
            due, asked, answered = done.T
            free, ideal = 0.0, []
            for time_, (begin, end) in zip(asked, runs):
                free = max(free, time_) + end - begin
                ideal.append(free - time_)
            percentile = lambda values, which=99: 1e3 * np.percentile(values, which)
            seen, took = answered - asked, runs[:, 1] - runs[:, 0]
            ratios.append(percentile(seen) / percentile(ideal))
            print(f"Poisson at 80 % of {capacity_:.0f}/s: p50 {percentile(seen, 50):.2f} ms, p99 {percentile(seen):.2f} ms; an ideal "
                  f"queue {percentile(ideal, 50):.2f}, {percentile(ideal):.2f} ms; runs {percentile(took, 50):.2f}, "
                  f"{percentile(took):.2f} ms; load {took.sum() / (due[-1] - due[0]):.2f}; asked late by {percentile(asked - due):.2f} ms")
    os.sched_setaffinity(0, cores)
    print(f"Poisson: p99 {median(ratios):.2f} times an ideal queue's ({min(ratios):.2f} to {max(ratios):.2f})")


def ask_on(port, path, body_, headers, ends, counts):
    """Asks until told to end; answers with `Connection: close` are obeyed."""
    connection = None
    while not ends.is_set():
        try:
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                connection.connect()
        except OSError:
            counts["closed"] += 1
            return
        try:
            connection.request("POST", path, body_, headers)
            answer = connection.getresponse()
            answer.read()
            counts["good" if answer.status == 200 else "failed"] += 1
            if answer.will_close:
                connection.close()
                connection = None
        except (OSError, http.client.HTTPException):
            counts["failed"] += 1
            connection = None


@contextlib.contextmanager
def asking(server, clients=8):
    body_, headers = binary_request([1, 1024], np.ones(1024, np.float32).tobytes())
    counts, ends = {"good": 0, "failed": 0, "closed": 0}, threading.Event()
    threads = [threading.Thread(target=ask_on, args=(server.port, "/v2/models/mlp/infer", body_, headers, ends, counts))
               for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield counts
    finally:
        ends.set()
        for thread in threads:
            thread.join()


def reloads(options, models):
    """100 reloads under load: failed requests, memory."""
    with serving(options, "--model-repository", models, "--model-control-mode=explicit", "--load-model=*") as server:
        control = http.client.HTTPConnection("127.0.0.1", server.port)
        def reload_often(times):
            with asking(server) as counts:
                for _ in range(times):
                    status, answer = post(control, "/v2/repository/models/mlp/load", b"")
                    assert status == 200, answer
            time.sleep(0.5)
            return server.status("VmRSS"), counts

        before, _ = reload_often(20)
        after, counts = reload_often(100)
    print(f"100 reloads under load: {counts['good']} answers, {counts['failed']} failed; memory {before:.0f} MB "
          f"after the first 20, {after:.0f} MB at the end ({100 * (after - before) / before:+.1f} %)")


def sigterm(options, models):
    """SIGTERM under load, with two seconds in which a balancer takes note."""
    with serving(options, "--model-repository", models, "--drain-delay=2") as server:
        with asking(server) as counts:
            time.sleep(1)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(1)
            served = counts["good"]
            code = server.process.wait(timeout=60)
    print(f"SIGTERM under load: {served} answers in a second after it and before, {counts['good']} in all, "
          f"{counts['failed']} failed, exit status {code}")


FIGURES = {one.__name__: one for one in (tiny, capacity, grpc, batching, mixed, milliseconds, poisson, image, body, idle,
                                        overload, gone, reloads, sigterm)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=f"{ROOT}/build/bin/onnx-serve")
    parser.add_argument("figure", nargs="*", choices=[*FIGURES, []], help="all by default")
    options = parser.parse_args()
    with open("/proc/cpuinfo") as file:
        cpu = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    print(f"{cpu}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}")
    with tempfile.TemporaryDirectory() as models:
        save_models(models)
        for name in options.figure or FIGURES:
            FIGURES[name](options, models)


if __name__ == "__main__":
    main()
