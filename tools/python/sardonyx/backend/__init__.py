"""ONNX's backend interface (onnx.backend.base): prepare, run_model and run_node on sardonyx."""
from .. import InferenceSession, RunOptions


class SardonyxBackendRep:
    """A model that prepare() made ready."""

    def __init__(self, session):
        self._session = session

    def run(self, inputs, **kwargs):
        """inputs: one array, a list of arrays in the order of the model's inputs, or a dict by name. Returns a list."""
        options = RunOptions()
        for name, value in kwargs.items():
            if not hasattr(options, name):
                raise TypeError("run: RunOptions has no '{}'".format(name))
            setattr(options, name, value)
        if isinstance(inputs, dict):
            return self._session.run(None, inputs, options)
        names = [arg.name for arg in self._session.get_inputs()]
        if not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        if len(inputs) > len(names):
            names += [arg.name for arg in self._session.get_overridable_initializers()]
        if len(inputs) > len(names):
            raise ValueError("run: the model has {} inputs, got {}".format(len(names), len(inputs)))
        return self._session.run(None, dict(zip(names, inputs)), options)


class SardonyxBackend:
    """What onnx.backend.test.BackendTest takes: the class, or this module."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        """Can the model be loaded?"""
        try:
            cls.prepare(model, device, **kwargs)
        except RuntimeError:
            return False
        return True

    @classmethod
    def supports_device(cls, device):
        """Is it the CPU? ONNX writes "CPU" or "CPU:0"."""
        return device.split(":")[0] == "CPU"

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """model: a ModelProto, a path, bytes or an InferenceSession. kwargs go to InferenceSession."""
        if not cls.supports_device(device):
            raise ValueError("device '{}': there is the CPU alone".format(device))
        if isinstance(model, SardonyxBackendRep):
            return model
        if isinstance(model, InferenceSession):
            return SardonyxBackendRep(model)
        return SardonyxBackendRep(InferenceSession(model, **kwargs))

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        """The outputs of a model as a list."""
        return cls.prepare(model, device).run(inputs, **kwargs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """The outputs of a NodeProto for arrays of its inputs as a list."""
        import numpy
        import onnx
        from onnx import helper, numpy_helper

        def info(name, array):
            tensor = numpy_helper.from_array(numpy.asarray(array))
            return helper.make_tensor_value_info(name, tensor.data_type, tensor.dims)

        names = [name for name in node.input if name]
        arrays = list(inputs.values()) if isinstance(inputs, dict) else list(inputs)
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], "node", [info(n, a) for n, a in zip(names, arrays)], outputs)
        opset = kwargs.pop("opset_version", None) or onnx.defs.onnx_opset_version()
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, opset)])
        return cls.run_model(model, dict(zip(names, arrays)), device, **kwargs)


is_compatible = SardonyxBackend.is_compatible
prepare = SardonyxBackend.prepare
run = SardonyxBackend.run_model
run_model = SardonyxBackend.run_model
run_node = SardonyxBackend.run_node
supports_device = SardonyxBackend.supports_device
