// Comparisons, And, Or, Xor, Not and Where on contiguous rows, for all types of whole bytes that
// the language itself compares.
#include <functional>
#include <optional>

#include "ir/dispatch.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"

namespace sardonyx::cpu {
namespace {

// ---- two operands

// out[i] = op(a[i], b[i]); an operand that does not step is one element for the whole row.
using PairRow = void (*)(const void* a, bool a_steps, const void* b, bool b_steps, bool* out,
                         int64_t count);

template <typename T, typename Op>
void pair_row(const void* a_row, bool a_steps, const void* b_row, bool b_steps, bool* out,
              int64_t count) {
  const T* a = static_cast<const T*>(a_row);
  const T* b = static_cast<const T*>(b_row);
  const Op op{};
  if (a_steps && b_steps) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = op(a[i], b[i]);
  } else if (a_steps) {
    const T right = *b;
    for (int64_t i = 0; i < count; ++i)
      out[i] = op(a[i], right);
  } else {
    const T left = *a;
    for (int64_t i = 0; i < count; ++i)
      out[i] = b_steps ? op(left, b[i]) : op(left, *b);
  }
}

class PairKernel : public Kernel {
 public:
  PairKernel(PairRow row, int64_t width, RowGrid grid, int threads)
      : row_(row), width_(width), grid_(grid), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto* a = static_cast<const std::byte*>(args.inputs[0]);
    const auto* b = static_cast<const std::byte*>(args.inputs[1]);
    auto* out = static_cast<bool*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const RowGrid::Offsets& at, int64_t begin, int64_t count) {
      row_(a + at[0] * width_, grid_.steps[0], b + at[1] * width_, grid_.steps[1], out + begin,
           count);
    });
  }

 private:
  PairRow row_;
  int64_t width_;
  RowGrid grid_;
  int threads_;
};

template <template <typename> typename Op>
PairRow row_for(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return pair_row<float, Op<float>>;
    case DType::kDouble:
      return pair_row<double, Op<double>>;
    case DType::kInt64:
      return pair_row<int64_t, Op<int64_t>>;
    case DType::kInt32:
      return pair_row<int32_t, Op<int32_t>>;
    case DType::kInt8:
      return pair_row<int8_t, Op<int8_t>>;
    case DType::kUInt8:
    case DType::kBool:
      return pair_row<uint8_t, Op<uint8_t>>;
    default:
      return nullptr;
  }
}

template <template <typename> typename Op>
Prepared prepare_pair(const KernelRequest& request) {
  const DType dtype = request.inputs[0].dtype;
  const PairRow row = row_for<Op>(dtype);
  if (!row) return Prepared::refuse("elements of this type are left to the reference");
  const Shape* operands[] = {&request.inputs[0].shape, &request.inputs[1].shape};
  const auto grid = RowGrid::of(request.outputs[0].shape, operands);
  if (!grid) return Prepared::refuse("too many dims");
  return Prepared::accept(
      std::make_unique<PairKernel>(row, bits_of(dtype) / 8, *grid, request.threads), "rows");
}

// Of bools, which are bytes of 0 and 1.
template <typename T>
struct Xor {
  bool operator()(T a, T b) const { return a != b; }
};

class NotKernel : public Kernel {
 public:
  explicit NotKernel(int64_t count) : count_(count) {}
  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const uint8_t*>(args.inputs[0]);
    auto* out = static_cast<bool*>(args.outputs[0]);
    for (int64_t i = 0; i < count_; ++i)
      out[i] = in[i] == 0;
  }
  bool may_alias(size_t, size_t) const override { return true; }

 private:
  int64_t count_;
};

Prepared prepare_not(const KernelRequest& request) {
  return Prepared::accept(std::make_unique<NotKernel>(element_count(request.inputs[0].shape)),
                          "rows");
}

// ---- Where

struct Choice {
  const uint8_t* condition;
  const void *taken, *other;
  void* out;
  int64_t count;
};

template <typename T, bool condition_steps, bool taken_steps, bool other_steps>
void choose_row(const Choice& row) {
  const T* taken = static_cast<const T*>(row.taken);
  const T* other = static_cast<const T*>(row.other);
  T* out = static_cast<T*>(row.out);
  for (int64_t i = 0; i < row.count; ++i) {
    const T yes = taken[taken_steps ? i : 0], no = other[other_steps ? i : 0];
    out[i] = row.condition[condition_steps ? i : 0] ? yes : no;
  }
}

using ChooseRow = void (*)(const Choice& row);

template <typename T>
ChooseRow choose_row_for(const std::array<bool, kMaxOperands>& steps) {
  static constexpr ChooseRow kRows[] = {
      choose_row<T, false, false, false>, choose_row<T, false, false, true>,
      choose_row<T, false, true, false>,  choose_row<T, false, true, true>,
      choose_row<T, true, false, false>,  choose_row<T, true, false, true>,
      choose_row<T, true, true, false>,   choose_row<T, true, true, true>};
  return kRows[4 * steps[0] + 2 * steps[1] + steps[2]];
}

class WhereKernel : public Kernel {
 public:
  WhereKernel(ChooseRow row, int64_t width, RowGrid grid, int threads)
      : row_(row), width_(width), grid_(grid), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto* condition = static_cast<const uint8_t*>(args.inputs[0]);
    const auto* taken = static_cast<const std::byte*>(args.inputs[1]);
    const auto* other = static_cast<const std::byte*>(args.inputs[2]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const RowGrid::Offsets& at, int64_t begin, int64_t count) {
      row_({condition + at[0], taken + at[1] * width_, other + at[2] * width_, out + begin * width_,
            count});
    });
  }

 private:
  ChooseRow row_;
  int64_t width_;
  RowGrid grid_;
  int threads_;
};

Prepared prepare_where(const KernelRequest& request) {
  const DType dtype = request.inputs[1].dtype;
  if (dtype == DType::kString || bits_of(dtype) < 8 || bits_of(dtype) > 64)
    return Prepared::refuse("elements of this type are left to the reference");
  const Shape* operands[] = {&request.inputs[0].shape, &request.inputs[1].shape,
                             &request.inputs[2].shape};
  const auto grid = RowGrid::of(request.outputs[0].shape, operands);
  if (!grid) return Prepared::refuse("too many dims");
  const int bits = bits_of(dtype);
  const ChooseRow row = bits == 8    ? choose_row_for<uint8_t>(grid->steps)
                        : bits == 16 ? choose_row_for<uint16_t>(grid->steps)
                        : bits == 32 ? choose_row_for<uint32_t>(grid->steps)
                                     : choose_row_for<uint64_t>(grid->steps);
  return Prepared::accept(std::make_unique<WhereKernel>(row, bits / 8, *grid, request.threads),
                          "rows");
}

constexpr KernelEntry kEntries[] = {
    {"Equal", "rows", prepare_pair<std::equal_to>},
    {"Greater", "rows", prepare_pair<std::greater>},
    {"GreaterOrEqual", "rows", prepare_pair<std::greater_equal>},
    {"Less", "rows", prepare_pair<std::less>},
    {"LessOrEqual", "rows", prepare_pair<std::less_equal>},
    {"And", "rows", prepare_pair<std::logical_and>},
    {"Or", "rows", prepare_pair<std::logical_or>},
    {"Xor", "rows", prepare_pair<Xor>},
    {"Not", "rows", prepare_not},
    {"Where", "rows", prepare_where},
};

}  // namespace

std::span<const KernelEntry> logic_entries() {
  return kEntries;
}

}  // namespace sardonyx::cpu
