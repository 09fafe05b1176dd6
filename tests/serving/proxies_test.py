#!/usr/bin/python3
"""onnx-serve behind nginx and haproxy, under slowhttptest and testssl.sh: as it stands in production, and as it is attacked.

    tests/serving/proxies_test.py [--server build/bin/onnx-serve] [unittest's arguments]

Needs what clients_test.py does; parts whose program (Debian's nginx, haproxy, slowhttptest, testssl.sh) is missing are skipped.
"""
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import clients_test
import figure_models
import grpc
import load
import numpy as np
from clients_test import Server, ServerCase, save_model


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(500):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.02)
    raise TimeoutError(f"nothing listens at {port}")


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"no {program}")


class Through(Server):
    """The same client, sent to a proxy's ports."""

    def __init__(self, server, http_port, grpc_port):
        self.http, self.grpc = http_port, grpc_port
        self.process = server.process
        self.connection = clients_test.http.client.HTTPConnection("127.0.0.1", http_port)
        self.channel = grpc.insecure_channel(f"127.0.0.1:{grpc_port}")


class Proxies(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        save_model(f"{cls.models}/plus/1/model.onnx", constant=1.0)
        figure_models.save_chain(f"{cls.models}/wide/1/model.onnx", 1, [1, 1024])
        figure_models.save_models(f"{cls.folder}/more")
        shutil.move(f"{cls.folder}/more/slow", f"{cls.models}/slow")
        cls.server = Server("--model-repository", cls.models, "--header-timeout=3", "--idle-timeout=5")

    def start(self, *command):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        def end():
            process.terminate()
            process.wait(timeout=30)
        self.addCleanup(end)

    def through_nginx(self, more=""):
        folder, first, second = tempfile.mkdtemp(dir=self.folder), free_port(), free_port()
        places = "".join(f"{name}_temp_path {folder}/{name};" for name in
                         ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(f"{folder}/conf", "w") as file:
            file.write(f"""{'user root;' if os.geteuid() == 0 else ''} daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{ }}
                http {{ access_log off; {places} client_max_body_size 0;
                  upstream models {{ server 127.0.0.1:{self.server.http}; keepalive 8; }}
                  server {{ listen 127.0.0.1:{first}; location / {{ proxy_pass http://models; proxy_http_version 1.1;
                            proxy_set_header Connection ""; {more} }} }}
                  server {{ listen 127.0.0.1:{second} http2; location / {{ grpc_pass grpc://127.0.0.1:{self.server.grpc};
                            }} }} }}""")
        self.start("nginx", "-p", folder, "-c", f"{folder}/conf")
        wait_for(first)
        return Through(self.server, first, second)

    def through_haproxy(self):
        folder, first, second = tempfile.mkdtemp(dir=self.folder), free_port(), free_port()
        with open(f"{folder}/conf", "w") as file:
            file.write(f"""
                defaults
                  timeout connect 5s
                  timeout client 30s
                  timeout server 30s
                  mode http
                frontend http
                  bind 127.0.0.1:{first}
                  default_backend models
                backend models
                  option httpchk GET /v2/health/ready
                  http-check expect status 200
                  server one 127.0.0.1:{self.server.http} check inter 200ms
                frontend grpc
                  bind 127.0.0.1:{second} proto h2
                  default_backend grpc_models
                backend grpc_models
                  server one 127.0.0.1:{self.server.grpc} proto h2\n""")
        self.start("haproxy", "-db", "-f", f"{folder}/conf")
        wait_for(first)
        return Through(self.server, first, second)

    def use(self, proxy):
        array = np.arange(12, dtype=np.float32).reshape(3, 4)
        for binary in (True, False):
            for _ in range(20):
                got = proxy.infer("plus", {"x": ("FP32", array)}, binary=binary)["y"]
                np.testing.assert_array_equal(got, array + 1)
        large = np.ones((1, 2_000_000), np.float32)
        np.testing.assert_array_equal(proxy.infer("plus", {"x": ("FP32", large)})["y"], large + 1)
        got = proxy.infer("plus", {"x": ("FP32", array)}, headers={"Content-Encoding": "gzip"})["y"]
        np.testing.assert_array_equal(got, array + 1)
        # A body whose length is not told beforehand.
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]}]}).encode()
        proxy.connection.request("POST", "/v2/models/plus/infer", iter([body[:10], body[10:]]),
                                 {"Transfer-Encoding": "chunked"}, encode_chunked=True)
        answer = proxy.connection.getresponse()
        self.assertEqual(json.loads(answer.read())["outputs"][0]["data"], [2, 3])
        self.assertEqual(proxy.call("GET", "/v2/models/absent", status=404)["error"][:7], "Request")
        stub = clients_test.service.GRPCInferenceServiceStub(proxy.channel)
        request = self.grpc_request("plus", {"x": ("FP32", array)})
        np.testing.assert_array_equal(self.grpc_outputs(stub.ModelInfer(request))["y"], array + 1)
        answers = list(stub.ModelStreamInfer(iter([request] * 10)))
        self.assertEqual([one.error_message for one in answers], [""] * 10)
        self.refused(grpc.StatusCode.NOT_FOUND,
                     lambda: stub.ModelInfer(clients_test.pb.ModelInferRequest(model_name="absent")))
        proxy.connection.close()
        proxy.channel.close()

    @needs("nginx")
    def test_nginx(self):
        self.use(self.through_nginx())
        self.use(self.through_nginx("proxy_request_buffering off; proxy_buffering off;"))

    @needs("haproxy")
    def test_haproxy(self):
        self.use(self.through_haproxy())

    def metric(self, text):
        return text in self.server.ask("GET", "/metrics")[1].decode()

    def comes(self, text):
        for _ in range(2000):
            if self.metric(text):
                return True
            time.sleep(0.01)
        return False

    @needs("nginx")
    def test_who_leaves_nginx_leaves_the_server(self):
        proxy = self.through_nginx()
        array = np.full((1024, 1024), 1e-3, np.float32)
        body, fields = load.binary_body({"x": ("FP32", array)})
        client = socket.create_connection(("127.0.0.1", proxy.http))
        client.sendall(load.http_request("/v2/models/slow/infer", body, fields))
        self.assertTrue(self.comes('sardonyx_requests_pending{model="slow",version="1"} 1'))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        self.assertTrue(self.comes('sardonyx_requests_pending{model="slow",version="1"} 0'))
        proxy.connection.close()
        proxy.channel.close()

    @needs("slowhttptest")
    def test_slow_clients_take_no_place(self):
        target = f"http://127.0.0.1:{self.server.http}/v2/models/plus/infer"
        for attack in (["-H", "-i", "1"], ["-B", "-i", "1", "-s", "8192"], ["-X", "-w", "1", "-y", "2", "-n", "1"]):
            with self.subTest(attack[0]):
                attacker = subprocess.Popen(["slowhttptest", *attack, "-c", "300", "-r", "150", "-l", "6", "-u", target],
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                served = 0
                while attacker.poll() is None:
                    self.server.infer("plus", {"x": ("FP32", np.ones((1, 2), np.float32))})
                    served += 1
                    time.sleep(0.05)
                self.assertGreater(served, 10)
        connections = lambda: sum(1 for _ in os.scandir(f"/proc/{self.server.process.pid}/fd"))
        for _ in range(100):
            if connections() < 100:
                break
            time.sleep(0.1)
        self.assertLess(connections(), 100)


class Tls(unittest.TestCase):
    @needs("testssl")
    def test_testssl_finds_nothing_of_weight(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                            "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                            f"{folder}/key", "-out", f"{folder}/cert"], check=True, stderr=subprocess.DEVNULL)
            save_model(f"{folder}/plus/1/model.onnx", constant=1.0)
            server = Server("--model-repository", folder, "--tls-cert", f"{folder}/cert", "--tls-key", f"{folder}/key")
            try:
                subprocess.run(["testssl", "--quiet", "--protocols", "--server-defaults", "--vulnerable", "--std", "--fs",
                                "--jsonfile", f"{folder}/found.json", f"localhost:{server.http}"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=900)
                with open(f"{folder}/found.json") as file:
                    found = json.load(file)
            finally:
                self.assertEqual(server.stop(), 0)
        by_id = {one["id"]: one for one in found}
        for protocol in ("SSLv2", "SSLv3", "TLS1", "TLS1_1"):
            self.assertIn("not offered", by_id[protocol]["finding"])
        for protocol in ("TLS1_2", "TLS1_3"):
            self.assertIn("offered", by_id[protocol]["finding"])
        # What a certificate that signs itself is told of, and what a browser would want to be told.
        # BREACH is of compressed answers with secrets in them; what is compressed there is the page, which has none.
        expected = ("cert_", "OCSP", "DNS_CAA", "scanProblem", "BREACH")
        weighty = [(one["id"], one["finding"]) for one in found if one["severity"] in ("MEDIUM", "HIGH", "CRITICAL") and
                   not one["id"].startswith(expected)]
        self.assertEqual(weighty, [])


if __name__ == "__main__":
    if "--server" in sys.argv:
        at = sys.argv.index("--server")
        clients_test.SERVER = sys.argv[at + 1]
        del sys.argv[at : at + 2]
    unittest.main()
