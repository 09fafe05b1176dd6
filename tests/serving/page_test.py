#!/usr/bin/python3
"""Opens the server's page in Debian's headless chromium and uses it as a person does.

    tests/serving/page_test.py [--server build/bin/onnx-serve] [unittest's arguments]

Needs Debian's chromium and python3-onnx; without a browser the tests are skipped.
"""
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import clients_test
from clients_test import Server, save_model
from onnx import TensorProto

BROWSER = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class Browser:
    """One page, driven over the pipe of Chrome's DevTools protocol: messages in JSON that end with a zero."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.source, to_write = os.pipe()

        def pipes():
            low, high = os.dup(to_read), os.dup(to_write)
            os.dup2(low, 3)
            os.dup2(high, 4)
        self.process = subprocess.Popen(
            [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.next, self.rest, self.events, self.session = 1, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def read(self, patience=60):
        while b"\0" not in self.rest:
            if not select.select([self.source], [], [], patience)[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.source, 65536)
            if not more:
                raise RuntimeError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        message = {"id": self.next, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        self.next += 1
        while True:
            answer = self.read()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]
            self.events.append(answer)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait_for(self, expression, patience=30):
        until = time.monotonic() + patience
        while time.monotonic() < until:
            value = self.value(expression)
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(expression)

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        os.close(self.to)
        os.close(self.source)
        shutil.rmtree(self.folder, ignore_errors=True)


@unittest.skipUnless(BROWSER, "no chromium")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        save_model(f"{cls.folder}/models/plus/1/model.onnx", constant=5.0)
        save_model(f"{cls.folder}/models/large/1/model.onnx", elem=TensorProto.INT64)
        save_model(f"{cls.folder}/models/<b>text&/1/model.onnx", elem=TensorProto.STRING)
        with open(f"{cls.folder}/tokens", "w") as file:
            file.write("secret\n")
        cls.server = Server("--model-repository", f"{cls.folder}/models")
        cls.guarded = Server("--model-repository", f"{cls.folder}/models", "--tokens", f"infer={cls.folder}/tokens")
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        codes = [cls.server.stop(), cls.guarded.stop()]
        shutil.rmtree(cls.folder)
        assert codes == [0, 0], codes

    def open(self, server):
        self.browser.events.clear()
        self.browser.call("Page.navigate", url=f"http://127.0.0.1:{server.http}/")
        self.browser.wait_for("document.readyState === 'complete' && typeof requestOf === 'function'")

    def choose(self, model):
        self.browser.wait_for(f"[...at('model').options].some(o => o.value === {json.dumps(model)})")
        self.browser.value(f"at('model').value = {json.dumps(model)}; showInputs()")
        self.browser.wait_for("at('inputs').children.length === 1")

    def run_model(self, data, shape=None):
        if shape:
            self.browser.value(f"document.querySelector('.shape').value = {json.dumps(shape)}")
        self.browser.value(f"document.querySelector('.data').value = {json.dumps(data)}; at('answer').hidden = true;"
                           "at('run').click()")
        self.browser.wait_for("!at('answer').hidden")
        return self.browser.value("[at('answer').className, at('answer').textContent]")

    def test_models_are_shown(self):
        self.open(self.server)
        names = self.browser.wait_for("at('models').rows.length === 3 && [...at('models').rows].map(r => r.cells[0].textContent)")
        self.assertEqual(names, ["<b>text& 1", "large 1", "plus 1"])
        self.assertTrue(self.browser.value("at('server').textContent").startswith("sardonyx "))
        # Nothing from elsewhere, and nothing that went wrong.
        urls = [one["params"]["request"]["url"] for one in self.browser.events
                if one["method"] == "Network.requestWillBeSent"]
        ours = (f"http://127.0.0.1:{self.server.http}/", "data:")
        self.assertEqual([url for url in urls if not url.startswith(ours)], [])
        wrong = [one for one in self.browser.events if one["method"] == "Runtime.exceptionThrown" or
                 (one["method"] == "Log.entryAdded" and one["params"]["entry"]["level"] != "verbose")]
        self.assertEqual(wrong, [])

    def test_an_input_is_tried(self):
        self.open(self.server)
        self.choose("plus")
        kind, text = self.run_model("[[1, 2.5]]", "1, 2")
        self.assertEqual((kind, json.loads(text)["outputs"][0]["data"]), ("", [6, 7.5]))
        kind, text = self.run_model("", "2, 1")  # empty for zeros
        self.assertEqual(json.loads(text)["outputs"][0]["data"], [5, 5])
        kind, text = self.run_model("[NaN, -Infinity]", "1, 2")
        self.assertIn("[NaN,-Infinity]", text)
        kind, text = self.run_model("[1, 2, 3]", "1, 2")
        self.assertEqual(kind, "error")
        self.assertIn("more elements than shape", text)

    def test_numbers_stay_as_they_are_written(self):
        self.open(self.server)
        self.choose("large")
        _, text = self.run_model("[9223372036854775807, -9007199254740993]", "1, 2")
        self.assertIn("[9223372036854775807,-9007199254740993]", text)

    def test_names_and_answers_are_text(self):
        self.open(self.server)
        self.choose("<b>text&")
        _, text = self.run_model('["<script>window.bad = 1</script>"]', "1, 1")
        self.assertIn("<script>", text)
        self.assertEqual(self.browser.value("[typeof window.bad, document.querySelectorAll('b').length]"), ["undefined", 0])

    def test_load_and_latencies_are_shown(self):
        self.open(self.server)
        self.browser.wait_for("kept.length > 0")
        for _ in range(20):
            self.server.infer("plus", {"x": ("FP32", clients_test.np.zeros((1, 2), clients_test.np.float32))})
        cells = self.browser.wait_for("(() => { const r = [...at('models').rows].find(r => r.cells[0].textContent === 'plus 1');"
                                      "return r && Number(r.cells[3].textContent) > 0 && [...r.cells].map(c => c.textContent); })()")
        self.assertGreaterEqual(int(cells[4]), 20)
        for cell in (cells[6], cells[7], cells[8], cells[9]):
            self.assertRegex(cell, r"^[\d.]+ (µs|ms|s)$")

    def test_a_profile_is_taken(self):
        self.open(self.server)
        self.browser.wait_for("at('models').rows.length === 3")
        self.browser.value("[...at('models').rows].find(r => r.cells[0].textContent === 'plus 1').querySelector('button').click()")
        until = time.monotonic() + 20
        while self.browser.value("at('profile').hidden") and time.monotonic() < until:
            self.server.infer("plus", {"x": ("FP32", clients_test.np.zeros((1, 2), clients_test.np.float32))})
        self.assertEqual(self.browser.value("at('profiled').textContent"), "plus 1")
        self.assertEqual(self.browser.value("at('steps').rows[0].cells[1].textContent"), "Add")
        self.assertRegex(self.browser.value("at('summary').textContent"), r"^\d+ runs, ")

    def test_a_token_is_asked_for(self):
        self.open(self.guarded)
        self.browser.wait_for("at('problem').textContent.includes('Bearer')")
        self.browser.value("at('token').value = 'secret'; at('token').onchange()")
        self.browser.wait_for("at('models').rows.length === 3")
        self.choose("plus")
        _, text = self.run_model("[[1, 2]]", "1, 2")
        self.assertEqual(json.loads(text)["outputs"][0]["data"], [6, 7])


if __name__ == "__main__":
    if "--server" in sys.argv:
        at = sys.argv.index("--server")
        clients_test.SERVER = sys.argv[at + 1]
        del sys.argv[at : at + 2]
    unittest.main()
