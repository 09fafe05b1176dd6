"""Packed sequences: layers give for each sequence what they give for it alone."""
import unittest

import numpy as np

from sardonyx import eager
from sardonyx.eager import nn
from sardonyx.eager.nn.utils import rnn

RISING, FALLING = [2, 5, 1, 5], [5, 5, 2, 1]


def padded(lengths, batch_first, features=3):
    steps = eager.randn(max(lengths) + 1, len(lengths), features)
    return steps.transpose(0, 1) if batch_first else steps


def state_of(kind, state):
    return state if kind == "LSTM" else (state,)


class Packed(unittest.TestCase):
    def assert_close(self, found, expected):
        self.assertEqual(tuple(found.shape), tuple(expected.shape))
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)

    def test_order_of_steps(self):
        steps = eager.tensor([[[1.0], [4.0]], [[2.0], [5.0]], [[0.0], [6.0]]])  # [time, batch, 1]: lengths 2 and 3
        packed = rnn.pack_padded_sequence(steps, [2, 3], enforce_sorted=False)
        self.assertEqual(packed.data.flatten().tolist(), [4, 1, 5, 2, 6])
        self.assertEqual(packed.batch_sizes.tolist(), [2, 2, 1])
        self.assertEqual(packed.sorted_indices.tolist(), [1, 0])
        self.assertEqual(packed.unsorted_indices.tolist(), [1, 0])
        back, lengths = rnn.pad_packed_sequence(packed, padding_value=-1.0, total_length=4)
        self.assertEqual(back[:, 0, 0].tolist(), [1, 2, -1, -1])
        self.assertEqual(back[:, 1, 0].tolist(), [4, 5, 6, -1])
        self.assertEqual(lengths.tolist(), [2, 3])

    def test_sequences_come_back(self):
        for lengths in (FALLING, RISING):
            parts = [eager.randn(length, 2) for length in lengths]
            packed = rnn.pack_sequence(parts, enforce_sorted=lengths is FALLING)
            self.assertEqual(packed.sorted_indices is None, lengths is FALLING)
            for part, back in zip(parts, rnn.unpack_sequence(packed)):
                self.assert_close(back, part)
            for part, back in zip(parts, rnn.unpad_sequence(rnn.pad_sequence(parts), lengths)):
                self.assert_close(back, part)

    def test_layers_see_each_sequence_alone(self):
        for kind, lengths, batch_first in [
            (kind, lengths, first) for kind in ("RNN", "GRU", "LSTM") for lengths in (FALLING, RISING) for first in (0, 1)
        ]:
            with self.subTest(kind=kind, lengths=lengths, batch_first=batch_first):
                layer = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=True, batch_first=bool(batch_first))
                steps = padded(lengths, batch_first)
                start = tuple(eager.randn(4, 4, 4) for _ in range(2 if kind == "LSTM" else 1))
                packed = rnn.pack_padded_sequence(steps, eager.tensor(lengths), bool(batch_first), lengths is FALLING)
                output, state = layer(packed, start if kind == "LSTM" else start[0])
                self.assertIsInstance(output, rnn.PackedSequence)
                self.assertEqual(output.batch_sizes.tolist(), packed.batch_sizes.tolist())
                outputs = rnn.unpack_sequence(output)
                by_sequence = steps if batch_first else steps.transpose(0, 1)
                for place, length in enumerate(lengths):
                    alone = by_sequence[place : place + 1, :length]
                    own = tuple(part[:, place : place + 1] for part in start)
                    found, last = layer(alone if batch_first else alone.transpose(0, 1), own if kind == "LSTM" else own[0])
                    self.assert_close(outputs[place], (found if batch_first else found.transpose(0, 1))[0])
                    for whole, one in zip(state_of(kind, state), state_of(kind, last)):
                        self.assert_close(whole[:, place], one[:, 0])

    def test_gradients_reach_the_steps_that_count(self):
        layer, steps = nn.GRU(3, 4), padded(RISING, False).requires_grad_()
        output, _ = layer(rnn.pack_padded_sequence(steps, RISING, enforce_sorted=False))
        output.data.pow(2).sum().backward()
        moved = np.abs(steps.grad.numpy()).sum(-1) > 0
        np.testing.assert_array_equal(moved, np.arange(6)[:, None] < np.array(RISING))
        self.assertGreater(float(layer.weight_ih_l0.grad.abs().sum()), 0)

    def test_what_is_refused(self):
        steps = padded(FALLING, False)
        wrong = [
            ("expected them to fall", lambda: rnn.pack_padded_sequence(steps, RISING)),
            ("expected 4 for the batch, got 3", lambda: rnn.pack_padded_sequence(steps, [3, 2, 1])),
            ("expected 1 to 6 steps", lambda: rnn.pack_padded_sequence(steps, [7, 2, 1, 1])),
            ("expected 1 to 6 steps", lambda: rnn.pack_padded_sequence(steps, [3, 2, 1, 0])),
        ]
        for message, call in wrong:
            with self.assertRaisesRegex(RuntimeError, message):
                call()
        packed = rnn.pack_padded_sequence(steps, FALLING)
        with self.assertRaisesRegex(ValueError, "total_length: expected at least 5"):
            rnn.pad_packed_sequence(packed, total_length=4)
        with self.assertRaisesRegex(TypeError, "LSTM: lengths are those of the PackedSequence"):
            nn.LSTM(3, 4)(packed, lengths=eager.tensor(FALLING))


if __name__ == "__main__":
    unittest.main()
