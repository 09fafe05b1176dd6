// Recurrent layers over sequences, whole and in halves, on one thread and two.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/core/error.h"
#include "ir/core/run_control.h"
#include "ir/op_samples.h"
#include "providers/cpu/provider.h"

namespace sardonyx {
namespace {

// X, W, R and, or not, both initial states of an LSTM.
struct Sequence {
  Tensor x, w, r, h, c;
  int threads = 1;
  bool is_constant = true;  // the weights
};

// Y and the states behind it.
std::vector<Tensor> states_of(const Sequence& s, const char* direction) {
  const OpDef& op = op_named("LSTM");
  const Shape &x = s.x.shape(), &r = s.r.shape();
  const Attrs attrs =
      Attrs::parse(*op.attrs, {{"hidden_size", r[2]}, {"direction", std::string(direction)}});
  const KernelTensor in[] = {{DType::kFloat, x},
                             {DType::kFloat, s.w.shape(), nullptr, s.is_constant ? &s.w : nullptr},
                             {DType::kFloat, r, nullptr, s.is_constant ? &s.r : nullptr},
                             {},
                             {},
                             {s.h.dtype(), s.h.shape()},
                             {s.c.dtype(), s.c.shape()}};
  const KernelTensor state{DType::kFloat, {r[0], x[1], r[2]}};
  const KernelTensor out[] = {{DType::kFloat, {x[0], r[0], x[1], r[2]}}, state, state};
  KernelRequest request{op, attrs, in, out};
  request.threads = s.threads;
  const Prepared prepared = prepare_kernel(std::vector{&cpu_provider()}, request);
  EXPECT_EQ(prepared.implementation, "simd");
  std::vector<Tensor> made;
  std::vector<void*> targets;
  for (const KernelTensor& output : out)
    targets.push_back(made.emplace_back(Tensor::allocate(output.dtype, output.shape)).raw());
  const void* w = s.is_constant ? nullptr : s.w.raw();
  const void* recurrent = s.is_constant ? nullptr : s.r.raw();
  const void* sources[] = {s.x.raw(), w, recurrent, nullptr, nullptr, s.h.raw(), s.c.raw()};
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
  prepared.kernel->run({sources, targets.data(), scratch->data()});
  return made;
}

// Elements [begin, end) of the first dim.
Tensor part_of(const Tensor& whole, int64_t begin, int64_t end) {
  Shape shape = whole.shape();
  const int64_t size = whole.count() / shape[0];
  shape[0] = end - begin;
  const Tensor part = Tensor::allocate(DType::kFloat, shape);
  std::copy_n(whole.values<float>().data() + begin * size, part.count(),
              static_cast<float*>(part.raw()));
  return part;
}

void expect_near(const Tensor& a, const Tensor& b) {
  const auto left = a.values<float>(), right = b.values<float>();
  ASSERT_EQ(left.size(), right.size());
  float largest = 0;
  for (size_t i = 0; i < left.size(); ++i)
    largest = std::max(largest, std::abs(left[i] - right[i]));
  EXPECT_LE(largest, 2e-6f);
}

TEST(Recurrent, halves_of_a_sequence_give_what_the_whole_gives) {
  constexpr int64_t kSteps = 24, kHalf = kSteps / 2;
  const Tensor x = drawn_tensor(DType::kFloat, {kSteps, 16, 96}, -1, 1, 1);
  const Tensor w = drawn_tensor(DType::kFloat, {2, 1024, 96}, -0.05, 0.05, 2);
  const Tensor r = drawn_tensor(DType::kFloat, {2, 1024, 256}, -0.05, 0.05, 3);
  for (const int threads : {1, 2}) {
    const auto both = states_of({x, w, r, {}, {}, threads}, "bidirectional");
    for (const int64_t direction : {0, 1}) {
      const Tensor own_w = part_of(w, direction, direction + 1);
      const Tensor own_r = part_of(r, direction, direction + 1);
      const char* name = direction == 0 ? "forward" : "reverse";
      const Tensor upper = part_of(x, 0, kHalf), lower = part_of(x, kHalf, kSteps);
      const bool is_forward = direction == 0;
      const auto whole = states_of({x, own_w, own_r, {}, {}, threads}, name);
      const auto first =
          states_of({is_forward ? upper : lower, own_w, own_r, {}, {}, threads}, name);
      const auto last =
          states_of({is_forward ? lower : upper, own_w, own_r, first[1], first[2], threads}, name);
      expect_near(part_of(whole[0], 0, kHalf), is_forward ? first[0] : last[0]);
      expect_near(part_of(whole[0], kHalf, kSteps), is_forward ? last[0] : first[0]);
      for (const size_t state : {1, 2}) {
        expect_near(whole[state], last[state]);
        expect_near(part_of(both[state], direction, direction + 1), last[state]);
      }
    }
  }
}

TEST(Recurrent, weights_of_the_run_give_what_constant_ones_give) {
  const Tensor x = drawn_tensor(DType::kFloat, {5, 9, 21}, -1, 1, 1);
  const Tensor w = drawn_tensor(DType::kFloat, {2, 4 * 37, 21}, -0.5, 0.5, 2);
  const Tensor r = drawn_tensor(DType::kFloat, {2, 4 * 37, 37}, -0.5, 0.5, 3);
  for (const int threads : {1, 2}) {
    const auto constant = states_of({x, w, r, {}, {}, threads}, "bidirectional");
    const auto fresh = states_of({x, w, r, {}, {}, threads, false}, "bidirectional");
    for (size_t i = 0; i < constant.size(); ++i)
      EXPECT_EQ(constant[i], fresh[i]) << i;
  }
}

TEST(Recurrent, ends_at_the_deadline) {
  const Tensor x = Tensor::zeros(DType::kFloat, {512, 64, 256});
  const Tensor w = Tensor::zeros(DType::kFloat, {1, 1024, 256});
  const RunControl control{nullptr, std::chrono::steady_clock::now(), {}};
  const ControlScope scope(control);
  for (const int threads : {1, 2}) {
    try {
      states_of({x, w, w, {}, {}, threads}, "forward");
      ADD_FAILURE() << "it does not end";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
    }
  }
}

}  // namespace
}  // namespace sardonyx
