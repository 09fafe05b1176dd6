"""Sequences of different lengths without their padding, as torch.nn.utils.rnn has them.

Layers get padded tensors and lengths of these, and what they give is packed again.
"""
from typing import NamedTuple, Optional

from .. import _sardonyx
from .._sardonyx.eager import Tensor, _nn

_eager = _sardonyx.eager


class PackedSequence(NamedTuple):
    """Step after step of all sequences: `data` [steps of all, ...], of which step t has the first batch_sizes[t].

    Sequences are in order of falling length: sorted_indices says which they were, unsorted_indices where they are;
    None where the order was that one.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Optional[Tensor] = None
    unsorted_indices: Optional[Tensor] = None

    def to(self, *args, **kwargs):
        return self._replace(data=self.data.to(*args, **kwargs))

    def cpu(self):
        return self


def _inverse(order):
    places = [0] * len(order)
    for place, one in enumerate(order):
        places[one] = place
    return places


def _indices(numbers):
    return _eager.tensor(list(numbers), dtype=_eager.DType.int64)


def _integers(lengths):
    return [int(one) for one in (lengths.tolist() if hasattr(lengths, "tolist") else lengths)]


def _packed(steps, lengths, order, keeps_order):
    """Of steps [time, batch, ...] those that count; order: the numbers of the sequences, by falling length."""
    time, batch = steps.shape[0], steps.shape[1]
    sizes = [sum(length > t for length in lengths) for t in range(max(lengths))]
    places = [t * batch + order[place] for t, size in enumerate(sizes) for place in range(size)]
    data = steps.reshape(time * batch, *steps.shape[2:]).index_select(0, _indices(places))
    if keeps_order:
        return PackedSequence(data, _indices(sizes))
    return PackedSequence(data, _indices(sizes), _indices(order), _indices(_inverse(order)))


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """A PackedSequence of input [time, batch, ...], or batch first, and its lengths, which fall unless told otherwise."""
    steps = input.transpose(0, 1) if batch_first else input
    lengths = _integers(lengths)
    if len(lengths) != steps.shape[1]:
        raise RuntimeError(f"pack_padded_sequence: lengths: expected {steps.shape[1]} for the batch, got {len(lengths)}")
    if not lengths or min(lengths) < 1 or max(lengths) > steps.shape[0]:
        raise RuntimeError(f"pack_padded_sequence: lengths: expected 1 to {steps.shape[0]} steps, got {lengths}")
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    if enforce_sorted and order != list(range(len(lengths))):
        raise RuntimeError(
            f"pack_padded_sequence: lengths: expected them to fall, got {lengths}; enforce_sorted=False sorts them"
        )
    return _packed(steps, lengths, order, enforce_sorted)


def _lengths_in_order(sequence):
    """(lengths, order) of the sequences as they were before they were sorted."""
    sizes = sequence.batch_sizes.tolist()
    falling = [sum(size > place for size in sizes) for place in range(sizes[0])]
    if sequence.sorted_indices is None:
        return falling, list(range(len(falling)))
    order = sequence.sorted_indices.tolist()
    return [falling[place] for place in _inverse(order)], order


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(tensor [time, batch, ...], or batch first, lengths [batch]) of a PackedSequence."""
    sizes = sequence.batch_sizes.tolist()
    time = len(sizes) if total_length is None else total_length
    if time < len(sizes):
        raise ValueError(f"pad_packed_sequence: total_length: expected at least {len(sizes)}, got {total_length}")
    lengths, order = _lengths_in_order(sequence)
    data, count = sequence.data, sequence.data.shape[0]
    places, begin, rank = [count] * (time * len(lengths)), 0, _inverse(order)
    for t, size in enumerate(sizes):
        for one, length in enumerate(lengths):
            if length > t:
                places[t * len(lengths) + one] = begin + rank[one]
        begin += size
    padding = _eager.full((1, *data.shape[1:]), padding_value, dtype=data.dtype)
    steps = _eager.cat([data, padding], 0).index_select(0, _indices(places))
    steps = steps.reshape(time, len(lengths), *data.shape[1:])
    return steps.transpose(0, 1) if batch_first else steps, _indices(lengths)


def pad_sequence(sequences, batch_first=False, padding_value=0.0):
    """Tensors [length, ...] of different lengths as one [longest, batch, ...], or batch first."""
    sequences = list(sequences)
    longest = max(one.shape[0] for one in sequences)
    padded = [
        _eager.pad(one, [0, 0] * (one.ndim - 1) + [0, longest - one.shape[0]], value=padding_value) for one in sequences
    ]
    return _eager.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The tensors [length, ...] that pad_sequence made one of."""
    by_sequence = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [by_sequence[place][:length] for place, length in enumerate(_integers(lengths))]


def pack_sequence(sequences, enforce_sorted=True):
    """A PackedSequence of tensors [length, ...]."""
    sequences = list(sequences)
    return pack_padded_sequence(pad_sequence(sequences), [one.shape[0] for one in sequences], False, enforce_sorted)


def unpack_sequence(packed_sequences):
    """The tensors that a PackedSequence has, in their order before they were sorted."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def _takes_packed(layer):
    forward = layer.forward

    def taking(self, input, hx=None, lengths=None):
        if not isinstance(input, PackedSequence):
            return forward(self, input, hx, lengths)
        if lengths is not None:
            raise TypeError(f"{layer.__name__}: lengths are those of the PackedSequence: expected none beside it")
        batch_first = self.batch_first
        padded, counts = pad_packed_sequence(input, batch_first)
        output, state = forward(self, padded, hx, counts.to(_eager.DType.int32))
        steps = output.transpose(0, 1) if batch_first else output
        _, order = _lengths_in_order(input)
        return _packed(steps, counts.tolist(), order, input.sorted_indices is None), state

    taking.__name__, taking.__qualname__, taking.__doc__ = "forward", f"{layer.__name__}.forward", layer.__doc__
    layer.forward = taking


for _layer in (_nn.RNN, _nn.GRU, _nn.LSTM):
    _takes_packed(_layer)

members = {
    function.__name__: function
    for function in (
        PackedSequence,
        pack_padded_sequence,
        pad_packed_sequence,
        pad_sequence,
        unpad_sequence,
        pack_sequence,
        unpack_sequence,
    )
}
