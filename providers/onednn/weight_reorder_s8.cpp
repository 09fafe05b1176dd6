#include "providers/onednn/weight_reorder_s8.h"
#include "ir/core/threading/parallel_for.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "providers/cpu/gemm/pack_transposed.h"

namespace sardonyx::onednn {
namespace {

constexpr int64_t kVnniGroup = 4;
// Taps of the window that are transposed at once.
constexpr int64_t kTransposeUnit = 8;
// Smaller reorders are done before another thread has woken.
constexpr int64_t kWorthSharingS8 = 64 << 10;  // elements

using Eight = uint8_t __attribute__((vector_size(8)));
using Sixteen = uint8_t __attribute__((vector_size(16)));

// [lead][output][input][place] becomes [lead][output / block][place][input / 4 /
// per_group][per_group] [block][4], in the order that the strides of the target give to all but the
// last three.
struct Quads {
  int64_t leads, outputs, inputs, places;
  int64_t block;                   // outputs of a block
  int64_t from_lead, from_output;  // strides of the source; of an input: places
  int64_t per_group;               // quads of inputs next to each other
  int64_t to_lead, to_block,
      to_quads;  // strides of the target; to_quads is of groups of per_group quads
  std::vector<int64_t> offsets = {};  // of the places in the target
};

std::optional<Quads> quads_of(const Extents& strides, const BlockedForm& to) {
  const size_t rank = to.dims.size(), sizes = to.inner.size();
  if (sizes < 2 || sizes > 3 || to.inner.back().size != kVnniGroup) return std::nullopt;
  const size_t output = to.inner[sizes - 2].dim, input = to.inner.back().dim;
  if (sizes == 3 && to.inner[0].dim != input) return std::nullopt;
  if (output > 1 || input != output + 1 || input + 1 >= rank) return std::nullopt;
  for (size_t dim = 0; dim < rank; ++dim) {
    if (dim != output && to.dims[dim] != to.padded[dim]) return std::nullopt;
  }
  Quads quads{.leads = output == 1 ? to.dims[0] : 1,
              .outputs = to.dims[output],
              .inputs = to.dims[input],
              .places = 1,
              .block = to.inner[sizes - 2].size,
              .from_lead = output == 1 ? strides[0] : 0,
              .from_output = strides[output],
              .per_group = sizes == 3 ? to.inner[0].size : 1,
              .to_lead = output == 1 ? to.strides[0] : 0,
              .to_block = to.strides[output],
              .to_quads = to.strides[input]};
  quads.offsets = {0};
  for (size_t dim = rank; dim-- > input + 1;) {
    if (strides[dim] != quads.places) return std::nullopt;
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i < to.dims[dim]; ++i) {
      for (const int64_t offset : quads.offsets)
        offsets.push_back(i * to.strides[dim] + offset);
    }
    quads.offsets = std::move(offsets);
    quads.places *= to.dims[dim];
  }
  if (strides[input] != quads.places) return std::nullopt;
  return quads;
}

Sixteen load_eight(const std::byte* from) {
  Eight values;
  std::memcpy(&values, from, sizeof values);
  return __builtin_shufflevector(values, values, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
}

void store_four(const Sixteen& quads, const int64_t* offsets, std::byte* to) {
  for (int64_t i = 0; i < 4; ++i)
    std::memcpy(to + offsets[i], reinterpret_cast<const std::byte*>(&quads) + i * kVnniGroup,
                kVnniGroup);
}

// Transposes four rows of `places` bytes: column i goes to `to` at offsets[i].
void transpose_quad(const std::byte* from, int64_t places, const int64_t* offsets, std::byte* to) {
  int64_t place = 0;
  for (; place + kTransposeUnit <= places; place += kTransposeUnit) {
    const std::byte* at = from + place;
    const Sixteen a = load_eight(at), b = load_eight(at + places), c = load_eight(at + 2 * places),
                  d = load_eight(at + 3 * places);
    const Sixteen ab =
        __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const Sixteen cd =
        __builtin_shufflevector(c, d, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    store_four(
        __builtin_shufflevector(ab, cd, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23),
        offsets + place, to);
    store_four(__builtin_shufflevector(ab, cd, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15,
                                       30, 31),
               offsets + place + 4, to);
  }
  for (; place < places; ++place) {
    std::byte* target = to + offsets[place];
    for (int64_t i = 0; i < kVnniGroup; ++i)
      target[i] = from[i * places + place];
  }
}

// Packs block `block` of the outputs of `lead`.
void pack_block(const Quads& quads, int64_t lead, int64_t block, const std::byte* from,
                std::byte* to) {
  from += lead * quads.from_lead + block * quads.block * quads.from_output;
  to += lead * quads.to_lead + block * quads.to_block;
  const int64_t outputs = std::min(quads.block, quads.outputs - block * quads.block);
  const int64_t step = quads.block * kVnniGroup;
  if (quads.places == 1 && quads.from_output % kVnniGroup == 0 &&
      quads.to_quads == quads.per_group * step) {  // whole quads move, as floats
    cpu::pack_transposed(reinterpret_cast<const LooseFloat*>(from), quads.from_output / kVnniGroup,
                         outputs, quads.inputs / kVnniGroup, reinterpret_cast<float*>(to),
                         quads.block);
    return;
  }
  for (int64_t quad = 0; quad < quads.inputs / kVnniGroup; ++quad) {
    std::byte* target =
        to + quad / quads.per_group * quads.to_quads + quad % quads.per_group * step;
    for (int64_t output = 0; output < outputs; ++output) {
      transpose_quad(from + output * quads.from_output + quad * kVnniGroup * quads.places,
                     quads.places, quads.offsets.data(), target + output * kVnniGroup);
    }
  }
}

}  // namespace

bool pack_quads(const std::byte* from, const Extents& strides, const BlockedForm& to,
                std::byte* out, int threads) {
  const auto quads = quads_of(strides, to);
  if (!quads) return false;
  const int64_t blocks = (quads->outputs + quads->block - 1) / quads->block;
  const int64_t all = quads->leads * blocks;
  const int64_t elements = all * quads->block * quads->inputs * quads->places;
  if (blocks * quads->block != quads->outputs) std::memset(out, 0, static_cast<size_t>(elements));
  parallel_for_each(all, elements >= kWorthSharingS8 ? threads : 1,
                    [&](int64_t i) { pack_block(*quads, i / blocks, i % blocks, from, out); });
  return true;
}

}  // namespace sardonyx::onednn
