"""Models that the server is measured with."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def save(path, nodes, inputs, outputs, constants=(), elem=TensorProto.FLOAT):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    info = lambda pairs, elem: [helper.make_tensor_value_info(name, elem, dims) for name, dims in pairs]
    graph = helper.make_graph(nodes, "g", info(inputs, elem), info(outputs, TensorProto.FLOAT),
                              [numpy_helper.from_array(value, name) for name, value in constants])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8), path)


class Encoder:
    """A BERT of `layers` layers without a head: y[batch, hidden] is its first token's row."""

    def __init__(self, layers, hidden, heads, seed=3):
        self.nodes, self.constants, self.next = [], [], 0
        self.rng, self.hidden, self.heads = np.random.default_rng(seed), hidden, heads
        mask = self.op("Cast", "attention_mask", to=TensorProto.FLOAT)
        mask = self.op("Unsqueeze", mask, self.constant(np.array([1, 2], np.int64)))
        mask = self.op("Mul", self.op("Sub", self.constant(np.float32(1)), mask), self.constant(np.float32(-10000)))
        x = self.op("Gather", self.weight(1000, hidden), "input_ids")
        for _ in range(layers):
            x = self.layer(x, mask)
        self.nodes.append(helper.make_node("Gather", [x, self.constant(np.int64(0))], ["y"], axis=1))

    def constant(self, value):
        self.constants.append((f"c{len(self.constants)}", np.asarray(value)))
        return self.constants[-1][0]

    def weight(self, *shape):
        return self.constant((self.rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32))

    def op(self, kind, *inputs, **attributes):
        self.next += 1
        self.nodes.append(helper.make_node(kind, list(inputs), [f"t{self.next}"], **attributes))
        return f"t{self.next}"

    def linear(self, x, inner, outer):
        return self.op("Add", self.op("MatMul", x, self.weight(inner, outer)), self.constant(np.zeros(outer, np.float32)))

    def norm(self, x):
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        variance = self.op("ReduceMean", self.op("Mul", centred, centred), axes=[-1])
        spread = self.op("Sqrt", self.op("Add", variance, self.constant(np.float32(1e-12))))
        scaled = self.op("Mul", self.op("Div", centred, spread), self.constant(np.ones(self.hidden, np.float32)))
        return self.op("Add", scaled, self.constant(np.zeros(self.hidden, np.float32)))

    def split(self, x, order):
        shape = self.constant(np.array([0, 0, self.heads, self.hidden // self.heads], np.int64))
        return self.op("Transpose", self.op("Reshape", self.linear(x, self.hidden, self.hidden), shape), perm=order)

    def gelu(self, x):
        half = self.op("Mul", x, self.constant(np.float32(0.5)))
        wave = self.op("Erf", self.op("Div", x, self.constant(np.float32(np.sqrt(2)))))
        return self.op("Mul", half, self.op("Add", wave, self.constant(np.float32(1))))

    def layer(self, x, mask):
        query, key, value = (self.split(x, order) for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = self.op("Mul", self.op("MatMul", query, key),
                         self.constant(np.float32(1 / np.sqrt(self.hidden / self.heads))))
        shares = self.op("Softmax", self.op("Add", scores, mask), axis=-1)
        seen = self.op("Transpose", self.op("MatMul", shares, value), perm=[0, 2, 1, 3])
        seen = self.op("Reshape", seen, self.constant(np.array([0, 0, self.hidden], np.int64)))
        x = self.norm(self.op("Add", x, self.linear(seen, self.hidden, self.hidden)))
        wide = self.gelu(self.linear(x, self.hidden, 4 * self.hidden))
        return self.norm(self.op("Add", x, self.linear(wide, 4 * self.hidden, self.hidden)))

    def save(self, path):
        tokens = ["batch", "tokens"]
        save(path, self.nodes, [("input_ids", tokens), ("attention_mask", tokens)], [("y", ["batch", self.hidden])],
             self.constants, TensorProto.INT64)


def save_chain(path, products, inputs, first=(), start="x"):
    """Products with matrices 1024 x 1024, one after the other."""
    weights = [(f"w{i}", (np.random.default_rng(i).standard_normal((1024, 1024)) / 32).astype(np.float32)) for i in range(3)]
    chain = [helper.make_node("MatMul", [f"p{i}" if i else start, f"w{i % 3}"], [f"p{i + 1}" if i < products - 1 else "y"])
             for i in range(products)]
    save(path, [*first, *chain], [("x", inputs)], [("y", [1, 1024])], weights)


def save_small(folder, products):
    """Input of 4 KB."""
    save_chain(f"{folder}/small/1/model.onnx", products, [1, 1024])


def save_large(folder, products):
    """Input of 600 KB, of which little is used."""
    begin = [helper.make_node("Flatten", ["x"], ["flat"]),
             helper.make_node("Slice", ["flat", "from", "to", "axis"], ["start"])]
    path = f"{folder}/large/1/model.onnx"
    save_chain(path, products, [1, 3, 224, 224], begin, "start")
    model = onnx.load(path)
    for name, value in (("from", 0), ("to", 1024), ("axis", 1)):
        model.graph.initializer.append(numpy_helper.from_array(np.array([value], np.int64), name))
    onnx.save(model, path)


def save_models(folder):
    save(f"{folder}/tiny/1/model.onnx", [helper.make_node("Neg", ["x"], ["y"])], [("x", ["batch", 16])],
         [("y", ["batch", 16])])
    rng = np.random.default_rng(1)
    nodes, constants, last = [], [], "x"
    for i in range(3):
        constants.append((f"w{i}", (rng.standard_normal((1024, 1024)) / 32).astype(np.float32)))
        nodes += [helper.make_node("MatMul", [last, f"w{i}"], [f"m{i}"]),
                  helper.make_node("Relu", [f"m{i}"], ["y" if i == 2 else f"r{i}"])]
        last = f"r{i}"
    save(f"{folder}/mlp/1/model.onnx", nodes, [("x", ["batch", 1024])], [("y", ["batch", 1024])], constants)
    save(f"{folder}/image/1/model.onnx", [helper.make_node("GlobalAveragePool", ["x"], ["y"])],
         [("x", ["batch", 3, 224, 224])], [("y", ["batch", 3, 1, 1])])
    save(f"{folder}/flat/1/model.onnx", [helper.make_node("ReduceMax", ["x"], ["y"], keepdims=0)],
         [("x", ["length"])], [("y", [])])
    # Takes long: a chain of products.
    chain = [helper.make_node("MatMul", [f"p{i}" if i else "x", "x"], [f"p{i + 1}" if i < 399 else "y"])
             for i in range(400)]
    save(f"{folder}/slow/1/model.onnx", chain, [("x", [1024, 1024])], [("y", [1024, 1024])])
    save_chain(f"{folder}/busy/1/model.onnx", 9, [1, 1024])
    with open(f"{folder}/busy/config.pbtxt", "w") as file:
        file.write("dynamic_batching { default_queue_policy { max_queue_size: 8 } } "
                   "instance_group { count: 1 kind: KIND_CPU }")
    save_small(folder, 12)
    save_large(folder, 12)
    Encoder(2, 128, 2).save(f"{folder}/bert/1/model.onnx")
    Encoder(2, 128, 2).save(f"{folder}/padded/1/model.onnx")
    with open(f"{folder}/padded/config.pbtxt", "w") as file:
        file.write('max_batch_size: 16 dynamic_batching { } parameters { key: "pad" '
                   'value: { string_value: "input_ids=0, attention_mask=0" } }')
