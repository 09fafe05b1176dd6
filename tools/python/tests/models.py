"""Small models for the tests, made with the onnx package."""
import onnx
from onnx import TensorProto, helper


def model_of(nodes, inputs, outputs, opset=17, initializers=(), **fields):
    """The bytes of a model; inputs and outputs are (name, type number, shape) or ValueInfoProtos."""

    def info(value):
        return value if isinstance(value, onnx.ValueInfoProto) else helper.make_tensor_value_info(*value)

    graph = helper.make_graph(
        nodes, "graph", [info(i) for i in inputs], [info(o) for o in outputs], list(initializers), doc_string="a graph"
    )
    fields.setdefault("opset_imports", [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 2)])
    model = helper.make_model(graph, **fields)
    model.ir_version = 8
    return model.SerializeToString()


def unary(op, number=TensorProto.FLOAT, shape=("n", 3), **attributes):
    """y = op(x)."""
    return model_of([helper.make_node(op, ["x"], ["y"], **attributes)], [("x", number, shape)], [("y", number, shape)])


def affine():
    """sum = a + b and product = a * b of float[2, "n"]."""
    nodes = [helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("Mul", ["a", "b"], ["product"])]
    shape = [2, "n"]
    return model_of(
        nodes,
        [("a", TensorProto.FLOAT, shape), ("b", TensorProto.FLOAT, shape)],
        [("sum", TensorProto.FLOAT, shape), ("product", TensorProto.FLOAT, shape)],
        producer_name="tests",
        domain="org.example",
        model_version=7,
        doc_string="two results",
    )


def with_default():
    """y = x + w, where w is an input whose default is [1, 2]."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2])
    return model_of(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        [("x", TensorProto.FLOAT, [2]), ("w", TensorProto.FLOAT, [2])],
        [("y", TensorProto.FLOAT, [2])],
        initializers=[weight],
    )


def endless():
    """A loop of 2^62 turns."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["again"]), helper.make_node("Add", ["v", "v"], ["next"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [2]),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [2]),
        ],
    )
    return model_of(
        [helper.make_node("Loop", ["count", "", "x"], ["y"], body=body)],
        [("x", TensorProto.FLOAT, [2])],
        [("y", TensorProto.FLOAT, [2])],
        initializers=[helper.make_tensor("count", TensorProto.INT64, [], [2**62])],
    )
