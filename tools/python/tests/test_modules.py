"""Modules that derive from nn.Module and from its layers, and what their attributes register."""
import os
import tempfile
import unittest

import numpy as np

import sardonyx
from sardonyx import eager
from sardonyx.eager import nn


def parameter(*values):
    return nn.Parameter(eager.tensor([float(value) for value in values]))


def names(module):
    return [name for name, _ in module.named_parameters()]


class Attributes(unittest.TestCase):
    def test_a_parameter_takes_the_place_of_what_the_name_stood_for(self):
        class WithDefault(nn.Module):
            bias = None

        for before in (None, 3, "text"):
            with self.subTest(before=before):
                module = nn.Module()
                module.bias = before
                module.bias = parameter(1, 2)
                self.assertIsInstance(module.bias, nn.Parameter)
                self.assertEqual(names(module), ["bias"])
        module = WithDefault()
        module.bias = parameter(1)
        self.assertEqual(module.bias.tolist(), [1])
        module.bias = None
        self.assertIsNone(module.bias)
        self.assertEqual(names(module), [])
        module.bias = parameter(7)
        self.assertEqual(module.state_dict()["bias"].tolist(), [7])

    def test_buffers(self):
        module = nn.Module()
        module.mean = None
        module.register_buffer("mean", eager.zeros(2))
        self.assertEqual(module.mean.tolist(), [0, 0])
        module.mean = eager.ones(2)
        self.assertEqual(dict(module.named_buffers())["mean"].tolist(), [1, 1])
        module.mean = None
        self.assertEqual(list(module.named_buffers()), [])
        module.mean = eager.ones(3)
        self.assertEqual(module.state_dict()["mean"].tolist(), [1, 1, 1])
        module.mean = parameter(5)  # a parameter from now on
        self.assertEqual((names(module), list(module.named_buffers())), (["mean"], []))

    def test_what_is_taken_away_is_not_registered(self):
        for take in (lambda module, name: setattr(module, name, None), delattr):
            module = nn.Module()
            module.layer, module.weight = nn.Linear(2, 2), parameter(1)
            module.register_buffer("mean", eager.zeros(2))
            for name in ("layer", "weight", "mean"):
                take(module, name)
            self.assertEqual(list(module.state_dict()), [])
            self.assertEqual(module.children(), [])
        with self.assertRaises(AttributeError):
            module.layer
        module.layer = nn.Linear(2, 3)
        self.assertEqual(names(module), ["layer.weight", "layer.bias"])
        with self.assertRaisesRegex(TypeError, "layer is a module of the module"):
            module.layer = 3

    def test_what_a_layer_was_made_with(self):
        linear, conv = nn.Linear(3, out_features=4), nn.Conv2d(3, 6, 3, padding=1, groups=3)
        self.assertEqual((linear.in_features, linear.out_features), (3, 4))
        self.assertEqual((conv.in_channels, conv.kernel_size, conv.stride, conv.padding, conv.groups),
                         (3, (3, 3), (1, 1), (1, 1), 3))
        self.assertEqual(nn.LSTM(3, 4, num_layers=2).hidden_size, 4)
        self.assertEqual(nn.BatchNorm2d(3).momentum, 0.1)
        self.assertEqual(nn.LayerNorm(3).normalized_shape, (3,))
        self.assertEqual(nn.MaxPool2d(2).stride, 2)
        self.assertEqual(nn.TransformerEncoderLayer(8, 2).linear1.weight.shape[1], 8)
        with self.assertRaisesRegex(AttributeError, "p of Dropout is 0.1 since it was made"):
            nn.Dropout(0.1).p = 0.5
        with self.assertRaisesRegex(AttributeError, "linear1 of TransformerEncoderLayer stays the layer"):
            nn.TransformerEncoderLayer(8, 2).linear1 = linear
        with self.assertRaisesRegex(AttributeError, "Linear has no attribute foo"):
            linear.foo
        linear.in_features = 3  # as constructors of derived layers do

    def test_layers_in_the_place_of_others(self):
        net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        net[-1] = nn.Linear(4, 5)
        self.assertEqual(net(eager.ones(1, 3)).shape, (1, 5))
        self.assertEqual(names(net), ["0.weight", "0.bias", "2.weight", "2.bias"])
        self.assertEqual(net.state_dict()["2.weight"].shape, (5, 4))
        layers = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 2)])
        layers[1] = nn.Linear(4, 6)
        self.assertEqual(layers[1].out_features, 6)
        with self.assertRaises(IndexError):
            net[3] = nn.ReLU()
        with self.assertRaisesRegex(TypeError, "expected a module in place of a module"):
            net[0] = 3

    def test_utilities(self):
        net = nn.Linear(2, 2)
        flat = nn.utils.parameters_to_vector(net.parameters())
        self.assertEqual(flat.shape, (6,))
        nn.utils.vector_to_parameters(flat * 0 + 2, net.parameters())
        self.assertEqual(net.bias.tolist(), [2, 2])
        (net(eager.ones(1, 2)) * 100).sum().backward()
        nn.utils.clip_grad_value_(net.parameters(), 0.5)
        self.assertEqual(net.bias.grad.tolist(), [0.5, 0.5])
        self.assertAlmostEqual(nn.utils.clip_grad_norm_(net.parameters(), 0.1).item(), 0.5 * 6**0.5, places=6)
        with self.assertRaisesRegex(ValueError, "expected 6 elements"):
            nn.utils.vector_to_parameters(flat[:2], net.parameters())

    def test_states_are_in_order_of_registration(self):
        net = nn.Sequential(*(nn.Linear(1, 1) for _ in range(11)))
        module = nn.Module()
        module.z, module.a, module.net = parameter(1), parameter(2), net
        wanted = ["z", "a"] + [f"net.{i}.{name}" for i in range(11) for name in ("weight", "bias")]
        self.assertEqual(list(module.state_dict()), wanted)

    def test_layers_share_a_parameter(self):
        table, scores = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
        scores.weight = table.weight
        self.assertTrue(scores.weight.is_same(table.weight))
        net = nn.Sequential(table, scores)
        self.assertEqual(len(net.parameters()), 1)
        net(eager.tensor([1])).sum().backward()
        self.assertEqual(table.weight.grad.shape, (5, 3))


class Scaled(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.factor = parameter(100)

    def forward(self, x):
        return super().forward(x) * self.factor


class DerivedLayers(unittest.TestCase):
    def test_their_forward_is_called(self):
        layer, x = Scaled(), eager.ones(1, 2)
        wanted = eager.linear(x, layer.weight, layer.bias).numpy() * 100
        np.testing.assert_allclose(np.asarray(layer(x)), wanted)
        np.testing.assert_allclose(np.asarray(nn.Sequential(layer)(x)), wanted)
        self.assertEqual(names(nn.Sequential(layer)), ["0.weight", "0.bias", "0.factor"])
        seen = []
        layer.register_forward_hook(lambda module, inputs, output: seen.append(module))
        layer(x)
        self.assertEqual(seen, [layer])

    def test_every_layer_is_a_module(self):
        for layer in (nn.Linear(2, 2), nn.LSTM(2, 3), nn.MSELoss(), Scaled()):
            self.assertIsInstance(layer, nn.Module)
        encoder = nn.TransformerEncoderLayer(4, 2)
        self.assertIn("self_attn", dict(encoder.named_children()))
        self.assertIn("linear1", dict(encoder.named_modules()))
        touched = []
        nn.Sequential(nn.ReLU(), Scaled()).apply(touched.append)
        self.assertEqual([type(one).__name__ for one in touched], ["ReLU", "Scaled", "Sequential"])
        self.assertEqual(repr(nn.Sequential(nn.ReLU(), Scaled())), "Sequential(\n  (0): ReLU()\n  (1): Scaled(2 -> 2)\n)")

    def test_a_bare_layer_is_exported_in_evaluation_mode(self):
        layer = nn.BatchNorm1d(3)
        x = eager.randn(4, 3)
        layer(x)  # running statistics
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "norm.onnx")
            eager.export_onnx(layer, x, path, input_names=["x"])
            (y,) = sardonyx.InferenceSession(path).run(None, {"x": x.numpy()})
        self.assertTrue(layer.training)
        np.testing.assert_allclose(y, layer.eval()(x).numpy(), rtol=1e-5, atol=1e-6)

    def test_an_exported_function_need_not_take_all_sizes(self):
        class Even(nn.Module):
            def __init__(self):
                super().__init__()
                self.down, self.up = nn.Conv2d(2, 2, 3, 2, 1), nn.Upsample(scale_factor=2.0, mode="nearest")

            def forward(self, x):
                return eager.cat([self.up(self.down(x)), x], 1)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "even.onnx")
            net, x = Even(), eager.randn(1, 2, 8, 8)
            report = eager.export_onnx(net, (x,), path, input_names=["x"], dynamic_axes={"x": {0: "n", 2: "h", 3: "w"}})
            self.assertRegex(report, "h=16")
            found = sardonyx.InferenceSession(path).run(None, {"x": eager.ones(2, 2, 4, 6).numpy()})[0]
            np.testing.assert_allclose(found, net(eager.ones(2, 2, 4, 6)).numpy(), atol=1e-6)

    def test_keyword_arguments_reach_forward(self):
        class Shifted(nn.Linear):
            def forward(self, x, shift=0):
                return super().forward(x) + shift

        layer, x = Shifted(2, 2), eager.ones(1, 2)
        np.testing.assert_allclose((layer(x, shift=2) - layer(x)).numpy(), [[2, 2]], rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
