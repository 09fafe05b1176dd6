"""Transformers, RNNCell and update_bn: at once, compiled and exported, against torch's formulas."""
import os
import tempfile
import unittest

import numpy as np

from sardonyx import InferenceSession, eager
from sardonyx.eager import nn, optim

SIZES = dict(d_model=8, nhead=2, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=16, dropout=0.0)


class Transformers(unittest.TestCase):
    def setUp(self):
        eager.manual_seed(1)

    def test_all_forms_give_the_same(self):
        for norm_first in (False, True):
            for batch_first in (False, True):
                with self.subTest(norm_first=norm_first, batch_first=batch_first):
                    net = nn.Transformer(norm_first=norm_first, batch_first=batch_first, activation="gelu", **SIZES)
                    net.eval()
                    source, target = eager.randn(2, 5, 8), eager.randn(2, 4, 8)
                    if not batch_first:
                        source, target = source.transpose(0, 1), target.transpose(0, 1)
                    mask = nn.Transformer.generate_square_subsequent_mask(4)
                    padding = eager.tensor([[False, False, False, True, True], [False] * 5])

                    def run(src, tgt):
                        return net(
                            src, tgt, tgt_mask=mask, src_key_padding_mask=padding, memory_key_padding_mask=padding
                        )

                    found = run(source, target).numpy()
                    self.assertEqual(found.shape, tuple(target.shape))
                    np.testing.assert_allclose(eager.compile(run)(source, target).numpy(), found, rtol=1e-4, atol=1e-5)
                    with tempfile.TemporaryDirectory() as folder:
                        path = os.path.join(folder, "m.onnx")
                        eager.export_onnx(run, (source, target), path, input_names=["src", "tgt"])
                        (exported,) = InferenceSession(path).run(None, {"src": source.numpy(), "tgt": target.numpy()})
                    np.testing.assert_allclose(exported, found, rtol=1e-4, atol=1e-5)

    def test_masks(self):
        net = nn.Transformer(batch_first=True, **SIZES).eval()
        source, target = eager.randn(1, 3, 8), eager.randn(1, 4, 8)
        causal = nn.Transformer.generate_square_subsequent_mask(4)
        self.assertEqual(causal.tolist()[1], [0, 0, -np.inf, -np.inf])
        whole = net(source, target, tgt_mask=causal)
        # No query sees what comes later.
        np.testing.assert_allclose(
            net(source, target[:, :2], tgt_mask=causal[:2, :2]).numpy(), whole[:, :2].numpy(), rtol=1e-4, atol=1e-5
        )
        np.testing.assert_allclose(
            net(source, target, tgt_is_causal=True).numpy(), whole.numpy(), rtol=1e-4, atol=1e-5
        )
        # A key that is padding is as if it were not there.
        padding = eager.tensor([[False, False, True]])
        found = net(source, target, src_key_padding_mask=padding, memory_key_padding_mask=padding)
        np.testing.assert_allclose(net(source[:, :2], target).numpy(), found.numpy(), rtol=1e-4, atol=1e-5)

    def test_stacks_copy_their_layer(self):
        layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, dropout=0.0, batch_first=True)
        encoder = nn.TransformerEncoder(layer, num_layers=2, norm=nn.LayerNorm(8))
        names = [name for name, _ in encoder.named_parameters()]
        self.assertIn("layers.1.self_attn.in_proj_weight", names)
        self.assertIn("norm.weight", names)
        x = eager.randn(2, 3, 8)
        expected = encoder.norm(layer(layer(x)))
        np.testing.assert_allclose(encoder(x).numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)
        encoder(x).square().sum().backward()
        self.assertTrue(all(p.grad is not None for p in encoder.parameters()))
        self.assertIsNone(next(iter(layer.parameters())).grad)
        decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True), 1)
        self.assertEqual(decoder(x, x).shape, (2, 3, 8))
        with self.assertRaisesRegex(ValueError, "at least one layer, got 0"):
            nn.TransformerEncoder(layer, 0)

    def test_gradients_are_slopes(self):
        net = nn.Transformer(batch_first=True, **{**SIZES, "num_encoder_layers": 1, "num_decoder_layers": 1})
        net.to("float64")
        source, target = eager.randn(1, 3, 8).double(), eager.randn(1, 2, 8).double()
        weights = eager.randn(1, 2, 8).double()
        parameter = dict(net.named_parameters())["encoder.layers.0.linear1.weight"]

        def loss():
            return (net(source, target) * weights).sum()

        loss().backward()
        value, step = parameter.detach(), 1e-6
        for place in ((0, 0), (3, 5), (15, 7)):
            around = []
            for sign in (1, -1):
                moved = value.numpy()
                moved[place] += sign * step
                parameter.assign(eager.tensor(moved))
                with eager.no_grad():
                    around.append(loss().item())
            parameter.assign(value)
            self.assertAlmostEqual(parameter.grad.numpy()[place], (around[0] - around[1]) / (2 * step), places=5)


class Others(unittest.TestCase):
    def test_rnn_cell(self):
        eager.manual_seed(2)
        x, h = eager.randn(3, 4), eager.randn(3, 5)
        for nonlinearity, function in (("tanh", np.tanh), ("relu", lambda v: np.maximum(v, 0))):
            cell = nn.RNNCell(4, 5, nonlinearity=nonlinearity)
            w, u, b, c = (p.numpy() for p in cell.parameters())
            expected = function(x.numpy() @ w.T + b + h.numpy() @ u.T + c)
            np.testing.assert_allclose(cell(x, h).numpy(), expected, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(cell(x).numpy(), function(x.numpy() @ w.T + b + c), rtol=1e-5, atol=1e-6)
        with self.assertRaisesRegex(TypeError, "nonlinearity: expected 'tanh' or 'relu', got 'gelu'"):
            nn.RNNCell(4, 5, nonlinearity="gelu")

    def test_update_bn(self):
        eager.manual_seed(3)
        net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        net.eval()
        batches = [eager.randn(6, 3) for _ in range(3)]
        optim.swa_utils.update_bn([(batch, None) for batch in batches], net)
        inner = [net[0](batch).detach().numpy() for batch in batches]
        norm = net[1]
        np.testing.assert_allclose(norm.running_mean.numpy(), np.mean([x.mean(0) for x in inner], 0), atol=1e-5)
        np.testing.assert_allclose(norm.running_var.numpy(), np.mean([x.var(0, ddof=1) for x in inner], 0), atol=1e-5)
        self.assertFalse(net.training)
        optim.swa_utils.update_bn(batches, net, device="cpu")
        with self.assertRaises(ValueError):
            optim.swa_utils.update_bn(batches, net, device="cuda")

    def test_eig(self):
        a = np.random.default_rng(5).standard_normal((2, 6, 6))
        values, vectors = eager.linalg.eig(eager.tensor(a, dtype="float64"))
        values, vectors = (x.numpy() @ np.array([1, 1j]) for x in (values, vectors))
        np.testing.assert_allclose(a @ vectors, vectors * values[:, None, :], atol=1e-10)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)
        for one, all_values in zip(a, values):
            np.testing.assert_allclose(np.sort_complex(all_values), np.sort_complex(np.linalg.eigvals(one)), atol=1e-10)
        x = eager.tensor(a, dtype="float64", requires_grad=True)
        found = eager.linalg.eigvals(x)
        weights = np.random.default_rng(6).standard_normal((2, 6, 2))
        (found * eager.tensor(weights)).sum().backward()
        # The derivative of a value is w^H v^T / (w^H v) by its left and right vectors w and v.
        for one, own, gradient in zip(a, weights, x.grad.numpy()):
            values, right = np.linalg.eig(one)
            left = np.linalg.inv(right)
            of_found = eager.linalg.eigvals(eager.tensor(one)).numpy() @ np.array([1, 1j])
            places = [np.argmin(abs(values - v)) for v in of_found]
            expected = sum((np.outer(left[k], right[:, k]) * (own[i] @ np.array([1, -1j]))).real
                           for i, k in enumerate(places))
            np.testing.assert_allclose(gradient, expected, atol=1e-10)


if __name__ == "__main__":
    unittest.main()
