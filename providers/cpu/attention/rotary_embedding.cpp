// RotaryEmbedding on float32.
#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/attention/attention.h"
#include "providers/cpu/attention/attention_kernel.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

class RotaryKernel : public Kernel {
 public:
  explicit RotaryKernel(const KernelRequest& request) : by_position_(request.has(3)) {
    const auto& attrs = request.attrs<ops::RotaryEmbeddingAttrs>();
    const Shape& x = request.inputs[0].shape;
    is_packed_ = x.size() == 3;
    batch_ = x[0];
    heads_ = is_packed_ ? *attrs.num_heads : x[1];
    length_ = is_packed_ ? x[1] : x[2];
    size_ = is_packed_ ? x[2] / heads_ : x[3];
    half_ = (attrs.rotary_embedding_dim == 0 ? size_ : attrs.rotary_embedding_dim) / 2;
    is_interleaved_ = attrs.interleaved;
    known_ = request.inputs[1].shape[0];
    const int64_t count = element_count(x);
    threads_ = static_cast<int>(std::min<int64_t>(request.threads, count / kElementsPerThread + 1));
  }

  void run(const KernelArgs& args) const override {
    if (by_position_) check(static_cast<const int64_t*>(args.inputs[3]));
    const int64_t lines = batch_ * heads_ * length_;
    for_each_task(lines, threads_, size_, [&](int64_t line) { rotate(args, line); });
  }

 private:
  void check(const int64_t* positions) const {
    for (int64_t i = 0; i < batch_ * length_; ++i) {
      if (positions[i] >= 0 && positions[i] < known_) continue;
      fail(ErrorCode::kInvalidArgument, "RotaryEmbedding: position_ids holds ", positions[i],
           ", expected 0 to ", known_ - 1, ", the rows of the caches");
    }
  }

  void rotate(const KernelArgs& args, int64_t line) const {
    const int64_t b = line / (heads_ * length_);
    const int64_t t = is_packed_ ? line / heads_ % length_ : line % length_;
    int64_t row = b * length_ + t;
    if (by_position_) row = static_cast<const int64_t*>(args.inputs[3])[row];
    const float* x = static_cast<const float*>(args.inputs[0]) + line * size_;
    const float* cosines = static_cast<const float*>(args.inputs[1]) + row * half_;
    const float* sines = static_cast<const float*>(args.inputs[2]) + row * half_;
    float* y = static_cast<float*>(args.outputs[0]) + line * size_;
    rotate_pairs(x, cosines, sines, static_cast<size_t>(half_), is_interleaved_, y);
    std::copy(x + 2 * half_, x + size_, y + 2 * half_);
  }

  bool by_position_, is_packed_, is_interleaved_;
  int64_t batch_, heads_, length_, size_, half_, known_;
  int threads_;
};

Prepared prepare_rotary(const KernelRequest& request) {
  if (!all_of(request.inputs.first(3), DType::kFloat))
    return Prepared::refuse("only float is computed here");
  return Prepared::accept(std::make_unique<RotaryKernel>(request), "rotary_embedding");
}

constexpr KernelEntry kRotaryEntries[] = {{"RotaryEmbedding", "rotary_embedding", prepare_rotary}};

}  // namespace

std::span<const KernelEntry> rotary_embedding_kernels() {
  return kRotaryEntries;
}

}  // namespace sardonyx::cpu
