"""Objects before their constructor, the end of the interpreter, and what the garbage collector frees."""
import gc
import pathlib
import subprocess
import sys
import textwrap
import unittest
import weakref

import sardonyx
from sardonyx import eager
from sardonyx.eager import nn, optim


TESTS = str(pathlib.Path(__file__).resolve().parent)


class Construction(unittest.TestCase):
    """A class that derives from one of the package and uses itself before super().__init__()."""

    def refused(self, base, use):
        class Derived(base):
            def __init__(self):
                use(self)

        with self.assertRaisesRegex(TypeError, r"super\(\).__init__\(\) first"):
            Derived()

    def test_it_is_an_error(self):
        def register(self):
            self.weight = nn.Parameter(eager.ones(2))

        self.refused(nn.Module, register)
        self.refused(nn.Module, lambda self: self.parameters())
        self.refused(nn.Module, lambda self: self.register_buffer("mean", eager.ones(2)))
        self.refused(nn.Module, lambda self: setattr(self, "layer", nn.ReLU()))
        self.refused(nn.Linear, lambda self: self.weight)
        self.refused(optim.SGD, lambda self: self.step())
        self.refused(sardonyx.InferenceSession, lambda self: self.get_inputs())
        self.refused(eager.Tensor, lambda self: self.shape)
        self.refused(eager.Generator, lambda self: self.initial_seed())
        with self.assertRaisesRegex(TypeError, "__init__"):
            eager.Tensor.__new__(eager.Tensor).shape
        with self.assertRaisesRegex(TypeError, "__init__"):
            eager.ones(1) + eager.Tensor.__new__(eager.Tensor)

    def test_plain_attributes_may_come_first(self):
        class Early(nn.Module):
            def __init__(self):
                self.size = 3
                super().__init__()
                self.layer = nn.Linear(self.size, 1)

        self.assertEqual(len(Early().parameters()), 2)


class Exit(unittest.TestCase):
    def exits(self, program):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_while_daemon_threads_compute(self):
        self.exits(
            """
            import threading, time
            from sardonyx import eager
            x = eager.ones(300, 300)
            def work():
                while True:
                    x @ x
            for _ in range(4):
                threading.Thread(target=work, daemon=True).start()
            time.sleep(0.3)
            """
        )

    def test_while_daemon_threads_are_called_back(self):
        self.exits(
            """
            import threading, time
            from sardonyx import eager
            x = eager.ones(100, 100, requires_grad=True)
            x.register_hook(lambda gradient: gradient * 2)
            def work():
                y = x * 1
                while True:
                    y = x @ x
                    y.register_hook(lambda gradient: gradient)
                    y.sum().backward()
            for _ in range(3):
                threading.Thread(target=work, daemon=True).start()
            time.sleep(0.3)
            """
        )

    def test_while_daemon_threads_run_operators_of_python(self):
        self.exits(
            """
            import sys, threading, time
            import numpy as np
            import sardonyx
            from onnx import TensorProto, helper
            sys.path.insert(0, %r)
            import models
            def compute(x, factor):
                time.sleep(0.001)  # gives up the interpreter's lock within the call
                return x * factor
            sardonyx.register_custom_op("test::Scaled", compute, "(x: float) -> (y: float)", attributes={"factor": 2.0}, pure=False)
            node = helper.make_node("Scaled", ["x"], ["y"], domain="test", factor=3.0)
            model = models.model_of([node], [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])],
                                    opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("test", 1)])
            session = sardonyx.InferenceSession(model)
            x = np.float32([1, 2])
            assert session.run(None, {"x": x})[0].tolist() == [3, 6]
            def work():
                while True:
                    session.run(None, {"x": x})
            for _ in range(4):
                threading.Thread(target=work, daemon=True).start()
            time.sleep(0.2)
            """
            % TESTS
        )

    def test_what_computes_at_the_very_end(self):
        self.exits(
            """
            from sardonyx import eager
            class Last:
                def __del__(self, x=eager.ones(200, 200)):
                    x @ x
            last = Last()
            """
        )


class Garbage(unittest.TestCase):
    def test_compiled_functions_are_freed(self):
        class Step:
            def __init__(self):
                self.call = eager.compile(self.compute)

            def compute(self, x):
                return x * 2

        compiled = eager.compile(lambda x: x + 1)
        self.assertEqual(compiled(eager.ones(1)).tolist(), [2])
        step = Step()
        self.assertEqual(step.call(eager.ones(1)).tolist(), [2])
        alive = [weakref.ref(compiled), weakref.ref(step)]
        del compiled, step
        gc.collect()
        self.assertEqual([one() for one in alive], [None, None])


if __name__ == "__main__":
    unittest.main()
