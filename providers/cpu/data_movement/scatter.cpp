// ScatterND with constant indices, as tracing records assignments to parts of a tensor: prepare()
// computes the runs of contiguous elements to copy. Updates of any scatter are written into the
// data in place if nothing else reads it.
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/data_movement/gather.h"
#include "providers/cpu/data_movement/strided_copy.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

// Contiguous elements of the output. The updates are read in order, run after run.
struct ElementRun {
  int64_t to, count;
};

// nullopt where an index is out of range.
std::optional<std::vector<ElementRun>> runs_of(const Tensor& indices, const Shape& data) {
  const auto depth = static_cast<size_t>(indices.shape().back());
  const Strides strides = row_major_strides(data);
  const int64_t length =
      element_count(Shape(data.begin() + static_cast<int64_t>(depth), data.end()));
  std::vector<ElementRun> runs;
  if (length == 0) return runs;
  const auto values = indices.values<int64_t>();
  for (size_t tuple = 0; tuple < values.size(); tuple += depth) {
    int64_t to = 0;
    for (size_t i = 0; i < depth; ++i) {
      const int64_t index = values[tuple + i] + (values[tuple + i] < 0 ? data[i] : 0);
      if (index < 0 || index >= data[i]) return std::nullopt;
      to += index * strides[i];
    }
    const bool continues = !runs.empty() && runs.back().to + runs.back().count == to;
    if (continues) runs.back().count += length;
    if (!continues) runs.push_back({to, length});
  }
  return runs;
}

class ScatterRuns : public Kernel {
 public:
  ScatterRuns(const KernelRequest& request, std::vector<ElementRun> runs)
      : dtype_(request.inputs[0].dtype),
        count_(element_count(request.inputs[0].shape)),
        runs_(std::move(runs)) {}

  bool may_alias(size_t output, size_t input) const override { return output == 0 && input == 0; }

  void run(const KernelArgs& args) const override {
    dispatch_width(dtype_, [&]<typename T>() {
      if constexpr (std::is_trivially_copyable_v<T>) {
        auto* to = static_cast<T*>(args.outputs[0]);
        if (to != args.inputs[0]) copy_all(static_cast<const T*>(args.inputs[0]), to);
        write_runs(static_cast<const T*>(args.inputs[2]), to);
      }
    });
  }

 private:
  static constexpr int64_t kPart = 1 << 18;

  template <typename T>
  void copy_all(const T* from, T* to) const {
    for_each_task((count_ + kPart - 1) / kPart, 1, kPart, [&](int64_t part) {
      const int64_t begin = part * kPart;
      std::copy_n(from + begin, std::min(kPart, count_ - begin), to + begin);
    });
  }

  template <typename T>
  void write_runs(const T* from, T* to) const {
    const CancelFlag sign;
    int64_t written = 0;
    for (const ElementRun& run : runs_) {
      if (written > kPart) {
        if (sign.ask()) break;
        written = 0;
      }
      if (run.count == 1) {
        to[run.to] = *from;
      } else {
        std::copy_n(from, run.count, to + run.to);
      }
      from += run.count;
      written += run.count;
    }
    sign.check();
  }

  DType dtype_;
  int64_t count_;
  std::vector<ElementRun> runs_;
};

Prepared prepare_scatter_nd(const KernelRequest& request) {
  if (const char* why = why_unsupported_elements(request.inputs[0].dtype))
    return Prepared::refuse(why);
  if (request.attrs<ops::ScatterNDAttrs>().reduction != "none")
    return Prepared::refuse("updates are joined with the data");
  const Tensor* indices = request.inputs[1].constant;
  if (!indices) return Prepared::refuse("the indices are not known ahead");
  if (element_count(indices->shape()) == 0) return Prepared::refuse("there are no indices");
  auto runs = runs_of(*indices, request.inputs[0].shape);
  if (!runs) return Prepared::refuse("an index is out of range");
  Prepared prepared =
      Prepared::accept(std::make_unique<ScatterRuns>(request, std::move(*runs)), "runs");
  prepared.unread_inputs = 1u << 1;
  return prepared;
}

// The row's own evaluation, which spares the copy of the data where nothing else reads it.
class ScatterOver : public Kernel {
 public:
  explicit ScatterOver(std::unique_ptr<Kernel> evaluation) : evaluation_(std::move(evaluation)) {}
  void run(const KernelArgs& args) const override { evaluation_->run(args); }
  bool may_alias(size_t output, size_t input) const override { return output == 0 && input == 0; }

 private:
  std::unique_ptr<Kernel> evaluation_;
};

Prepared prepare_scatter_over(const KernelRequest& request) {
  if (const char* why = why_unsupported_elements(request.inputs[0].dtype))
    return Prepared::refuse(why);
  Prepared reference = prepare_reference(request);
  if (!reference.kernel) return reference;
  return Prepared::accept(std::make_unique<ScatterOver>(std::move(reference.kernel)), "in place");
}

constexpr KernelEntry kScatterEntries[] = {
    {"ScatterND", "scatter", prepare_scatter_nd},
    {"ScatterND", "scatter_over", prepare_scatter_over},
    {"ScatterElements", "scatter_over", prepare_scatter_over},
};

}  // namespace

std::span<const KernelEntry> scatter_kernels() {
  return kScatterEntries;
}

}  // namespace sardonyx::cpu
