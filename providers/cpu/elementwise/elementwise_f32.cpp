// Elementwise ops on float32 in row-major order.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "ir/ops/elementwise/fused_elementwise.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/cpu/elementwise/fused_activation.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

class UnaryKernel : public Kernel {
 public:
  UnaryKernel(Unary op, UnaryParams params, BroadcastLoop grid, int threads)
      : op_(op), params_(params), grid_(grid), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      unary_row(op_, params_, in + begin, out + begin, static_cast<size_t>(count));
    });
  }
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  Unary op_;
  UnaryParams params_;
  BroadcastLoop grid_;
  int threads_;
};

Prepared prepare_unary(const KernelRequest& request, Unary op, UnaryParams params) {
  if (!all_of(request.inputs.first(1), DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const Shape* shape = &request.inputs[0].shape;
  const std::optional<BroadcastLoop> grid = BroadcastLoop::of(*shape, {&shape, 1});
  return Prepared::accept(std::make_unique<UnaryKernel>(op, params, *grid, request.threads),
                          "simd");
}

Prepared prepare_function(const KernelRequest& request) {
  const std::string_view name = ops::grouped_name(request.op, request.raw_attrs);
  const std::vector<float> params = ops::float_params(request.op, request.raw_attrs);
  return prepare_unary(request, find_unary(name), unary_params(params));
}

// Clip with bounds that are known only in the run.
class ClipKernel : public Kernel {
 public:
  ClipKernel(UnaryParams constant, std::array<bool, 2> is_read, BroadcastLoop grid, int threads)
      : clip_(find_unary("Clip")),
        constant_(constant),
        is_read_(is_read),
        grid_(grid),
        threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto bound = [&](size_t k, float constant) {
      const float read = is_read_[k] ? *static_cast<const float*>(args.inputs[k + 1]) : constant;
      return std::isnan(read) ? constant : read;  // NaN bounds nothing, as in the reference
    };
    const UnaryParams bounds{bound(0, constant_.a), bound(1, constant_.b)};
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      unary_row(clip_, bounds, in + begin, out + begin, static_cast<size_t>(count));
    });
  }
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  Unary clip_;
  UnaryParams constant_;
  std::array<bool, 2> is_read_;
  BroadcastLoop grid_;
  int threads_;
};

Prepared prepare_clip(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  UnaryParams bounds{-std::numeric_limits<float>::infinity(),
                     std::numeric_limits<float>::infinity()};
  std::array<bool, 2> is_read{};
  for (size_t slot = 1; slot <= 2; ++slot) {
    if (!request.has(slot)) continue;
    const Tensor* constant = request.inputs[slot].constant;
    is_read[slot - 1] = !constant;
    if (constant) (slot == 1 ? bounds.a : bounds.b) = constant->values<float>()[0];
  }
  if (!is_read[0] && !is_read[1]) return prepare_unary(request, find_unary("Clip"), bounds);
  const Shape* shape = &request.inputs[0].shape;
  const std::optional<BroadcastLoop> grid = BroadcastLoop::of(*shape, {&shape, 1});
  return Prepared::accept(std::make_unique<ClipKernel>(bounds, is_read, *grid, request.threads),
                          "simd");
}

// Short rows of one operand that meet one row after the other of the other operand, as a bias for
// each of a few channels that are last: repeated, they make rows that are worth a call.
class ShortRows {
 public:
  // Turns `grid` into one of long rows if it has such short ones.
  explicit ShortRows(BroadcastLoop& grid) {
    constexpr int64_t kShort = 128;
    const bool is_short = grid.length > 0 && grid.length <= kShort && grid.rows > 0;
    if (!is_short || grid.outer_rank == 0 || !grid.steps[0] || !grid.steps[1]) return;
    const auto& strides = grid.strides[grid.outer_rank - 1];
    for (size_t k = 0; k < 2; ++k) {
      if (strides[k] == 0 && strides[1 - k] == grid.length) repeated_ = k;
    }
    if (!repeated_) return;
    length_ = grid.length;
    grid.steps[*repeated_] = false;
    grid.length *= grid.outer[--grid.outer_rank];
    grid.rows /= grid.outer[grid.outer_rank];
  }
  bool are_there() const { return repeated_.has_value(); }

  // Calls visit(pointers of both operands, first, count) over pieces of `count` elements, which
  // begin `first` elements after the beginning of a long row.
  template <typename Visit>
  void for_each(std::array<const float*, 2> operands, int64_t first, int64_t count,
                const Visit& visit) const {
    std::array<float, kRoom> rows;
    const int64_t phase = first % length_;
    const int64_t filled = std::min(phase + count, kRoom / length_ * length_);
    const float* row = operands[*repeated_];
    std::copy_n(row, std::min(length_, filled), rows.data());
    for (int64_t done = length_; done < filled; done *= 2)
      std::copy_n(rows.data(), std::min(done, filled - done), rows.data() + done);
    for (int64_t done = 0, begin = phase; done < count; begin = 0) {
      const int64_t piece = std::min(filled - begin, count - done);
      operands[*repeated_] = rows.data() + begin;
      visit(operands, done, piece);
      operands[1 - *repeated_] += piece;
      done += piece;
    }
  }

 private:
  static constexpr int64_t kRoom = 1024;
  std::optional<size_t> repeated_;
  int64_t length_ = 0;
};

class BinaryKernel : public Kernel {
 public:
  BinaryKernel(Binary op, float alpha, BroadcastLoop grid, const KernelRequest& request)
      : op_(op), alpha_(alpha), grid_(grid), short_rows_(grid_), threads_(request.threads) {
    for (size_t k = 0; k < 2; ++k)
      aliases_[k] = request.inputs[k].shape == request.outputs[0].shape;
  }

  void run(const KernelArgs& args) const override {
    const auto* a = static_cast<const float*>(args.inputs[0]);
    const auto* b = static_cast<const float*>(args.inputs[1]);
    auto* out = static_cast<float*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets& at, int64_t begin, int64_t count) {
      if (!short_rows_.are_there())
        return row(a + at[0], grid_.steps[0], b + at[1], grid_.steps[1], out + begin, count);
      short_rows_.for_each({a + at[0], b + at[1]}, begin % grid_.length, count,
                           [&](const auto& operands, int64_t first, int64_t piece) {
                             row(operands[0], true, operands[1], true, out + begin + first, piece);
                           });
    });
  }
  bool may_alias(size_t, size_t input) const override { return input < 2 && aliases_[input]; }

 private:
  void row(const float* a, bool a_steps, const float* b, bool b_steps, float* out,
           int64_t count) const {
    binary_row(op_, a, a_steps, b, b_steps, out, static_cast<size_t>(count), alpha_);
  }

  Binary op_;
  float alpha_;
  BroadcastLoop grid_;
  ShortRows short_rows_;
  int threads_;
  std::array<bool, 2> aliases_{};
};

Prepared prepare_pair(const KernelRequest& request, Binary op, float alpha = 0) {
  if (request.inputs.size() != 2) return Prepared::refuse("only two inputs are joined here");
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const Shape* operands[] = {&request.inputs[0].shape, &request.inputs[1].shape};
  const std::optional<BroadcastLoop> grid = BroadcastLoop::of(request.outputs[0].shape, operands);
  if (!grid) return Prepared::refuse("the broadcast has too many dims");
  return Prepared::accept(std::make_unique<BinaryKernel>(op, alpha, *grid, request), "simd");
}

Prepared prepare_binary(const KernelRequest& request) {
  return prepare_pair(request, *find_binary(request.op.name));
}

Prepared prepare_binary_with_alpha(const KernelRequest& request) {
  return prepare_pair(request, *find_binary(request.op.name),
                      ops::float_params(request.op, request.raw_attrs)[0]);
}

// Folds any number of inputs of one shape from the left, piece by piece while they are in the L1
// cache; Mean divides the sum.
class FoldKernel : public Kernel {
 public:
  FoldKernel(Binary op, bool is_mean, BroadcastLoop grid, const KernelRequest& request)
      : op_(op),
        divisor_(is_mean ? static_cast<float>(request.inputs.size()) : 1),
        inputs_(request.inputs.size()),
        grid_(grid),
        threads_(request.threads) {}

  void run(const KernelArgs& args) const override {
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      for (int64_t piece = 0; piece < count; piece += kPiece)
        fold(args, begin + piece, static_cast<size_t>(std::min(kPiece, count - piece)));
    });
  }
  // Inputs 0 and 1 are read before the output is written.
  bool may_alias(size_t, size_t input) const override { return inputs_ > 1 && input < 2; }

 private:
  static constexpr int64_t kPiece = 2048;

  void fold(const KernelArgs& args, int64_t begin, size_t count) const {
    const auto input = [&](size_t k) { return static_cast<const float*>(args.inputs[k]) + begin; };
    float* out = static_cast<float*>(args.outputs[0]) + begin;
    if (inputs_ == 1) return static_cast<void>(std::copy_n(input(0), count, out));
    binary_row(op_, input(0), true, input(1), true, out, count);
    for (size_t k = 2; k < inputs_; ++k)
      binary_row(op_, out, true, input(k), true, out, count);
    if (divisor_ != 1) binary_row(Binary::kDiv, out, true, &divisor_, false, out, count);
  }

  Binary op_;
  float divisor_;
  size_t inputs_;
  BroadcastLoop grid_;
  int threads_;
};

template <Binary op, bool is_mean = false>
Prepared prepare_fold(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const Shape& out = request.outputs[0].shape;
  for (const KernelTensor& input : request.inputs) {
    if (input.shape != out) return Prepared::refuse("an input is repeated");
  }
  const Shape* shape = &out;
  const std::optional<BroadcastLoop> grid = BroadcastLoop::of(out, {&shape, 1});
  return Prepared::accept(std::make_unique<FoldKernel>(op, is_mean, *grid, request), "simd");
}

Prepared prepare_pow(const KernelRequest& request) {
  if (!all_of(request.inputs.first(1), DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const Tensor* exponent = request.inputs[1].constant;
  if (exponent && exponent->count() == 1 &&
      element_count(request.inputs[0].shape) == element_count(request.outputs[0].shape)) {
    if (const auto power = unary_power(exponent->to_doubles()[0]))
      return prepare_unary(request, *power, {});
  }
  return prepare_pair(request, Binary::kPow);
}

// Of floats Mod has the sign of the dividend alone, as type inference has checked.
Prepared prepare_mod(const KernelRequest& request) {
  return prepare_pair(request, Binary::kFmod);
}

constexpr KernelEntry kElementwiseEntries[] = {
    {"Clip", "elementwise_f32", prepare_clip},
    {"Add", "elementwise_f32", prepare_binary},
    {"Sub", "elementwise_f32", prepare_binary},
    {"Mul", "elementwise_f32", prepare_binary},
    {"Div", "elementwise_f32", prepare_binary},
    {"Max", "elementwise_f32", prepare_binary},
    {"Min", "elementwise_f32", prepare_binary},
    {"Sum", "elementwise_f32", prepare_binary},
    {"Max", "elementwise_f32", prepare_fold<Binary::kMax>},
    {"Min", "elementwise_f32", prepare_fold<Binary::kMin>},
    {"Sum", "elementwise_f32", prepare_fold<Binary::kAdd>},
    {"Mean", "elementwise_f32", prepare_fold<Binary::kAdd, true>},
    {"PRelu", "elementwise_f32", prepare_binary},
    {"sardonyx::HardSwishGrad", "elementwise_f32", prepare_binary},
    {"sardonyx::HardSigmoidGrad", "elementwise_f32", prepare_binary_with_alpha},
    {"Pow", "elementwise_f32", prepare_pow},
    {"Mod", "elementwise_f32", prepare_mod},
};

// Adds an entry for every unary function that is an op.
std::vector<KernelEntry> with_functions() {
  std::vector<KernelEntry> entries(std::begin(kElementwiseEntries), std::end(kElementwiseEntries));
  for (const auto& [name, function] : unary_functions()) {
    const bool is_listed = std::ranges::count(kElementwiseEntries, name, &KernelEntry::op) > 0;
    if (find_op(name) && !is_listed) entries.push_back({name, "elementwise_f32", prepare_function});
  }
  return entries;
}

}  // namespace

std::span<const KernelEntry> elementwise_f32_kernels() {
  static const auto& entries = *new auto(with_functions());
  return entries;
}

}  // namespace sardonyx::cpu
