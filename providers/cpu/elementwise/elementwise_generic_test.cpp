// Elementwise ops on integers: every pair of bytes, and the edges of wider types, against the
// reference.
#include <gtest/gtest.h>

#include <limits>

#include "ir/reference_evaluator.h"
#include "providers/cpu/provider.h"

namespace sardonyx::cpu {
namespace {

// All values of a byte, or those near the ends and zero of a wider type.
template <typename T>
std::vector<T> values() {
  std::vector<T> out;
  if constexpr (sizeof(T) == 1) {
    for (int i = 0; i < 256; ++i)
      out.push_back(static_cast<T>(i));
    return out;
  }
  using Limits = std::numeric_limits<T>;
  for (int i = 0; i < 4; ++i) {
    out.insert(out.end(),
               {static_cast<T>(Limits::min() + i), static_cast<T>(Limits::max() - i),
                static_cast<T>(i), static_cast<T>(-i), static_cast<T>(Limits::max() / 2 + i)});
  }
  return out;
}

Tensor run_by_kernels(const OpDef& op, const Attrs& attrs, const std::vector<Datum>& inputs,
                      const Tensor& expected) {
  std::vector<KernelTensor> in;
  std::vector<const void*> sources;
  for (const Datum& input : inputs) {
    in.push_back({input.tensor().dtype(), input.tensor().shape(), nullptr, nullptr});
    sources.push_back(input.tensor().raw());
  }
  const KernelTensor out[] = {{expected.dtype(), expected.shape(), nullptr, nullptr}};
  for (const KernelEntry& entry : cpu_provider().kernels) {
    if (entry.op != full_name(op)) continue;
    const Prepared prepared = entry.prepare({op, attrs, in, out});
    if (!prepared.kernel) continue;
    Tensor got = Tensor::allocate(expected.dtype(), expected.shape());
    const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
    void* targets[] = {got.raw()};
    prepared.kernel->run({sources.data(), targets, scratch->data()});
    return got;
  }
  return {};
}

template <typename T>
void check_all_pairs() {
  const std::vector<T> all = values<T>();
  const auto count = static_cast<int64_t>(all.size());
  std::vector<T> others = all;
  std::erase(others, T{0});  // what Div may be given
  for (const char* name :
       {"Add", "Sub", "Mul", "Div", "Max", "Min", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    const OpDef& op = op_named(name);
    const Attrs attrs = Attrs::parse(*op.attrs, {});
    const bool divides = std::string_view(name) == "Div";
    const std::vector<T>& right = divides ? others : all;
    const std::vector<Datum> inputs{Tensor::of<T>(all, {count, 1}),
                                    Tensor::of<T>(right, {static_cast<int64_t>(right.size())})};
    const Tensor expected = evaluate(op, attrs, inputs, 1)[0].tensor();
    const Tensor got = run_by_kernels(op, attrs, inputs, expected);
    if (!got) continue;  // left to the reference
    const auto a = got.values<T>(), b = expected.values<T>();
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(+a[i], +b[i]) << name << " of " << +all[i / right.size()] << " and "
                              << +right[i % right.size()];
    }
  }
}

TEST(Numbers, pairs_of_integers_give_what_the_reference_gives) {
  check_all_pairs<int8_t>();
  check_all_pairs<uint8_t>();
  check_all_pairs<int32_t>();
  check_all_pairs<int64_t>();
  check_all_pairs<uint32_t>();
  check_all_pairs<uint64_t>();
}

}  // namespace
}  // namespace sardonyx::cpu
