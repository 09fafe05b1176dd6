// TensorScatter where the cache may stay where it is.
#include <cstring>

#include "ir/ops/data_movement/gather.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

class TensorScatterKernel : public Kernel {
 public:
  explicit TensorScatterKernel(const KernelRequest& request)
      : attrs_(request.attrs<ops::TensorScatterAttrs>()),
        cache_(request.inputs[0]),
        update_(request.inputs[1]) {
    if (request.has(2)) starts_ = request.inputs[2];
    bytes_ = bytes_for(cache_.dtype, element_count(cache_.shape));
  }

  void run(const KernelArgs& args) const override {
    if (args.inputs[0] != args.outputs[0]) std::memcpy(args.outputs[0], args.inputs[0], bytes_);
    const auto view = [](const KernelTensor& tensor, const void* data) {
      return TensorView{tensor.dtype, tensor.shape, const_cast<void*>(data)};
    };
    ops::write_cache_update(attrs_, view(update_, args.inputs[1]),
                            starts_ ? view(starts_, args.inputs[2]) : TensorView{},
                            view(cache_, args.outputs[0]));
  }
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  ops::TensorScatterAttrs attrs_;
  KernelTensor cache_, update_, starts_;
  size_t bytes_ = 0;
};

Prepared prepare_tensor_scatter(const KernelRequest& request) {
  const DType dtype = request.inputs[0].dtype;
  if (dtype == DType::kString || bits_of(dtype) < 8)
    return Prepared::refuse("only whole bytes are moved here");
  return Prepared::accept(std::make_unique<TensorScatterKernel>(request), "kv_cache_update");
}

constexpr KernelEntry kCacheEntries[] = {
    {"TensorScatter", "kv_cache_update", prepare_tensor_scatter}};

}  // namespace

std::span<const KernelEntry> kv_cache_update_kernels() {
  return kCacheEntries;
}

}  // namespace sardonyx::cpu
