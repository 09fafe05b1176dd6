// WordConvEmbedding on projected characters: the product of a character with a tap of the filters
// depends on nothing else, so each character is multiplied with all taps once, and windows only add
// these products.
#include <algorithm>
#include <limits>

#include "ir/core/error.h"
#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/cpu/gemm/gemv_f32.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

class WordEmbeddingKernel : public Kernel {
 public:
  explicit WordEmbeddingKernel(const KernelRequest& request) {
    const Shape &words = request.inputs[0].shape, &w = request.inputs[1].shape;
    length_ = words.back();
    words_ = length_ == 0 ? 0 : element_count(words) / length_;
    filters_ = w[0];
    window_ = w[2];
    size_ = w[3];
    known_ = request.inputs[3].shape[0];
    projects_all_ = known_ <= words_ * length_;
    const int64_t work = words_ * std::max<int64_t>(1, length_ * width());
    threads_ = static_cast<int>(std::min<int64_t>(request.threads, work / kElementsPerThread + 1));
  }

  // The filters, one row for each element of an embedding; projected characters (all that are
  // known, or for each thread those of its word); and for each thread a row of sums.
  size_t scratch_bytes() const override {
    const int64_t projected = projects_all_ ? known_ : threads_ * length_;
    return static_cast<size_t>((size_ + projected) * width() + threads_ * filters_) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    check_characters(static_cast<const int32_t*>(args.inputs[0]));
    float* columns = reinterpret_cast<float*>(args.scratch);
    transpose_filters(static_cast<const float*>(args.inputs[1]), columns);
    float* projected = columns + size_ * width();
    float* sums = projected + (projects_all_ ? known_ : threads_ * length_) * width();
    const float* table = static_cast<const float*>(args.inputs[3]);
    if (projects_all_) {
      for_each_task(known_, threads_, size_ * width(), [&](int64_t id) {
        project(table + id * size_, columns, projected + id * width());
      });
    }
    for_each_task(words_, threads_, length_ * width(), [&](int64_t word, int64_t thread) {
      const int32_t* ids = static_cast<const int32_t*>(args.inputs[0]) + word * length_;
      float* rows = projected;
      if (!projects_all_) {
        rows += thread * length_ * width();
        for (int64_t i = 0; i < used_characters(ids); ++i)
          project(table + ids[i] * size_, columns, rows + i * width());
      }
      embed(args, ids, rows, sums + thread * filters_,
            static_cast<float*>(args.outputs[0]) + word * filters_);
    });
  }

 private:
  int64_t width() const { return window_ * filters_; }

  // How many characters the windows of a word see. A word is as long as it has positive ids, or
  // empty where it starts with another id.
  int64_t used_characters(const int32_t* ids) const {
    const int64_t own =
        ids[0] > 0 ? std::count_if(ids, ids + length_, [](int32_t id) { return id > 0; }) : 0;
    return own == 0 ? 0 : std::max(own, window_);
  }

  void check_characters(const int32_t* ids) const {
    for (int64_t word = 0; word < words_; ++word, ids += length_) {
      for (int64_t i = 0; i < used_characters(ids); ++i) {
        if (ids[i] >= 0 && ids[i] < known_) continue;
        fail(ErrorCode::kInvalidArgument, "WordConvEmbedding: input Sequence: character ", ids[i],
             " is outside the ", known_, " rows of C");
      }
    }
  }

  // [filters, window, size] -> [size, window, filters]
  void transpose_filters(const float* from, float* to) const {
    for (int64_t filter = 0; filter < filters_; ++filter) {
      for (int64_t i = 0; i < window_; ++i) {
        for (int64_t j = 0; j < size_; ++j)
          to[j * width() + i * filters_ + filter] = *from++;
      }
    }
  }

  // embedding [size] -> [window, filters]
  void project(const float* embedding, const float* columns, float* out) const {
    const auto depth = static_cast<size_t>(size_), count = static_cast<size_t>(width());
    gemv({embedding, depth, columns, count, out, count, 1, depth, count});
  }

  // tanh grows with its argument, so that of the largest sum is taken.
  void embed(const KernelArgs& args, const int32_t* ids, const float* rows, float* sums,
             float* out) const {
    const auto count = static_cast<size_t>(filters_);
    const int64_t used = used_characters(ids);
    std::fill_n(out, filters_, used == 0 ? 0.f : -std::numeric_limits<float>::infinity());
    if (used == 0) return;
    const auto part = [&](int64_t place, int64_t i) {
      const int64_t row = projects_all_ ? ids[place + i] : place + i;
      return rows + row * width() + i * filters_;
    };
    for (int64_t place = 0; place + window_ <= used; ++place) {
      const float* sum = part(place, 0);
      for (int64_t i = 1; i < window_; ++i, sum = sums)
        binary_row(Binary::kAdd, sum, true, part(place, i), true, sums, count);
      binary_row(Binary::kMax, out, true, sum, true, out, count);
    }
    const float* bias = static_cast<const float*>(args.inputs[2]);
    binary_row(Binary::kAdd, out, true, bias, true, out, count);
    unary_row(common_unaries().tanh, {}, out, out, count);
  }

  int64_t length_, words_, filters_, window_, size_, known_;
  bool projects_all_;
  int threads_;
};

Prepared prepare(const KernelRequest& request) {
  if (request.inputs[1].shape[2] == 0) return Prepared::refuse("the window is empty");
  return Prepared::accept(std::make_unique<WordEmbeddingKernel>(request), "projected");
}

constexpr KernelEntry kWordEmbeddingEntries[] = {
    {"com.microsoft::WordConvEmbedding", "word_conv_embedding", prepare}};

}  // namespace

std::span<const KernelEntry> word_conv_embedding_kernels() {
  return kWordEmbeddingEntries;
}

}  // namespace sardonyx::cpu
