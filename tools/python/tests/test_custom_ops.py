"""Operators that are Python functions."""
import itertools
import threading
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import sardonyx as ort

_numbers = itertools.count()


def fresh_name():
    return "test.python::Op%d" % next(_numbers)


def model_of(name, inputs, outputs=("y",), number=TensorProto.FLOAT, **attributes):
    """A model of one node; inputs are names, "" for an omitted one."""
    domain, _, op = name.partition("::")
    node = helper.make_node(op, list(inputs), list(outputs), name="the node", domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info(i, number, ["n"]) for i in inputs if i],
        [onnx.ValueInfoProto(name=o) for o in outputs],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    model = helper.make_model(graph, opset_imports=imports)
    model.ir_version = 8
    return model.SerializeToString()


class CustomOps(unittest.TestCase):
    def test_a_function_computes(self):
        name = fresh_name()
        ort.register_custom_op(
            name,
            lambda x, bias, factor, words: x * factor + (0 if bias is None else bias) + len(words),
            "(x: T, bias?: T) -> (y: T)",
            types={"T": ["float", "double"]},
            attributes={"factor": 2.0, "words": ["a"]},
            infer=lambda x, bias, factor, words: [(x.dtype, x.shape)],
        )
        x = np.float32([1, 2, 3])
        session = ort.InferenceSession(model_of(name, ["x"], factor=3.0))
        self.assertEqual(session.get_outputs()[0].shape, ["n"])
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], x * 3 + 1)
        session = ort.InferenceSession(model_of(name, ["x", "b"], number=TensorProto.DOUBLE, words=["a", "b"]))
        (y,) = session.run(None, {"x": np.float64(x), "b": np.float64(x)})
        self.assertEqual(y.dtype, np.float64)
        np.testing.assert_array_equal(y, x * 3 + 2)

    def test_several_outputs_whose_sizes_data_decide(self):
        name = fresh_name()
        ort.register_custom_op(
            name, lambda x: (x[x > 0], np.flatnonzero(x > 0)), "(x: float) -> (kept: float, places: int64)"
        )
        session = ort.InferenceSession(model_of(name, ["x"], ["y", "p"]))
        for x in (np.float32([1, -1, 2]), np.float32([-1])):
            kept, places = session.run(None, {"x": x})
            np.testing.assert_array_equal(kept, x[x > 0])
            np.testing.assert_array_equal(places, np.flatnonzero(x > 0))

    def test_errors_name_the_node_and_the_session_stays_usable(self):
        name = fresh_name()

        def checked(x):
            if x.size == 0:
                raise ValueError("no elements")
            return "text" if x.size == 1 else (x if x.size > 2 else ())

        ort.register_custom_op(name, checked, "(x: float) -> (y: float)")
        session = ort.InferenceSession(model_of(name, ["x"]))
        with self.assertRaisesRegex(ort.InvalidArgument, "the node: " + name + ": ValueError: no elements"):
            session.run(None, {"x": np.zeros(0, np.float32)})
        with self.assertRaisesRegex(RuntimeError, "the node"):
            session.run(None, {"x": np.zeros(1, np.float32)})
        with self.assertRaisesRegex(ort.InvalidArgument, "gave 0 results, expected 1"):
            session.run(None, {"x": np.zeros(2, np.float32)})
        np.testing.assert_array_equal(session.run(None, {"x": np.zeros(3, np.float32)})[0], np.zeros(3))

    def test_required_attributes(self):
        name = fresh_name()
        ort.register_custom_op(
            name, lambda x, sizes: x.repeat(sizes[0]), "(x: float) -> (y: float)", attributes={"sizes": [int]}
        )
        with self.assertRaisesRegex(RuntimeError, "attribute sizes: is required"):
            ort.InferenceSession(model_of(name, ["x"]))
        session = ort.InferenceSession(model_of(name, ["x"], sizes=[2, 3]))
        np.testing.assert_array_equal(session.run(None, {"x": np.float32([5])})[0], [5, 5])

    def test_runs_of_many_threads(self):
        name = fresh_name()
        ort.register_custom_op(name, lambda x: x + 1, "(x: float) -> (y: float)")
        session = ort.InferenceSession(model_of(name, ["x"]))
        wrong = []

        def work(value):
            for _ in range(50):
                (y,) = session.run(None, {"x": np.full(3, value, np.float32)})
                if not (y == value + 1).all():
                    wrong.append(y)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_an_interrupt_stays_one(self):
        for interrupt in (KeyboardInterrupt, SystemExit):

            def compute(x):
                raise interrupt

            name = fresh_name()
            ort.register_custom_op(name, compute, "(x: float) -> (y: float)")
            session = ort.InferenceSession(model_of(name, ["x"]))
            with self.assertRaises(interrupt):
                session.run(None, {"x": np.float32([1])})

    def test_names_are_taken_once_and_given_back(self):
        name = fresh_name()
        ort.register_custom_op(name, lambda x: x, "(x: float) -> (y: float)")
        with self.assertRaisesRegex(ort.InvalidArgument, "there is an operator of this name"):
            ort.register_custom_op(name, lambda x: x, "(x: float) -> (y: float)")
        kept = ort.InferenceSession(model_of(name, ["x"]))
        ort.unregister_custom_op(name)
        with self.assertRaisesRegex(RuntimeError, "there is no operator"):
            ort.InferenceSession(model_of(name, ["x"]))
        np.testing.assert_array_equal(kept.run(None, {"x": np.float32([1])})[0], [1])
        with self.assertRaises(ort.InvalidArgument):
            ort.unregister_custom_op(name)
        for arguments in (("Op", "(x: float) -> (y: float)"), (fresh_name(), "x -> y")):
            with self.assertRaises(ort.InvalidArgument):
                ort.register_custom_op(arguments[0], lambda x: x, arguments[1])


if __name__ == "__main__":
    unittest.main()
