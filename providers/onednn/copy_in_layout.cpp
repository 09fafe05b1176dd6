// Ops that move values in a provider's layout. Split, Slice and ChannelShuffle of float32 keep it:
// whatever has strides, and whole blocks of channels. Transpose changes it instead of moving
// anything, where that can be.
#include "providers/cpu/data_movement/strided_copy.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "ir/ops/data_movement/channel_shuffle.h"
#include "ir/ops/data_movement/concat_split.h"
#include "ir/ops/data_movement/shape.h"
#include "ir/ops/reference/indices.h"
#include "providers/cpu/data_movement/channel_shuffle_kernel.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/layout.h"

namespace sardonyx::onednn {
namespace {

const char* refusal(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat) return "only float is moved here";
  if (!request.layouts || !request.inputs[0].layout) return "the input has no layout";
  return nullptr;
}

// The strides of a layout. Blocks of channels are a dim of their own, the last but one; the
// channels of a block are the last dim.
struct Strided {
  Extents dims, strides;
  bool has_blocks = false;
};

std::optional<Strided> strided(const Desc& desc) {
  if (auto strides = plain_strides(desc)) return Strided{desc.dims(), std::move(*strides)};
  const Extents dims = desc.dims();
  if (dims.size() != 4 || dims[1] % ImageLayout::kChannelBlock != 0 ||
      desc != blocked_desc(memory::data_type::f32, dims))
    return std::nullopt;
  const int64_t image = dims[2] * dims[3];
  return Strided{{dims[0], dims[1] / ImageLayout::kChannelBlock, dims[2],
                  dims[3] * ImageLayout::kChannelBlock},
                 {dims[1] * image, ImageLayout::kChannelBlock * image,
                  dims[3] * ImageLayout::kChannelBlock, 1},
                 true};
}

// Elements begin[d], begin[d] + step[d] ... of each dim of input 0, as output `output`. nullopt
// where blocks would have to be cut.
std::optional<cpu::Move> part(const Desc& from, const Desc& to, const Extents& begin,
                              const Extents& step, size_t output) {
  const auto source = strided(from), target = strided(to);
  if (!source || !target || source->has_blocks != target->has_blocks) return std::nullopt;
  const int64_t unit = source->has_blocks ? ImageLayout::kChannelBlock : 1;
  if (source->has_blocks &&
      (begin[1] % ImageLayout::kChannelBlock != 0 || step[1] != 1 || step[3] != 1))
    return std::nullopt;
  Extents from_strides = source->strides;
  int64_t offset = 0;
  for (size_t dim = 0; dim < begin.size(); ++dim) {
    const bool is_cut = dim == 1, is_wide = dim == 3;
    const int64_t at = is_cut ? begin[dim] / unit : is_wide ? begin[dim] * unit : begin[dim];
    offset += at * source->strides[dim];
    from_strides[dim] *= step[dim];
  }
  std::vector<size_t> order(begin.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](size_t dim) { return target->strides[dim]; });
  StridedBlock block;
  block.from_offset = offset;
  for (const size_t dim : order) {
    block.sizes.push_back(target->dims[dim]);
    block.from_strides.push_back(from_strides[dim]);
    block.to_strides.push_back(target->strides[dim]);
  }
  return cpu::Move{0, output, BlockCopy(DType::kFloat, std::move(block))};
}

Prepared accept(const KernelRequest& request, std::vector<cpu::Move> moves, const Desc& from) {
  Prepared prepared = Prepared::accept(
      std::make_unique<cpu::MovementKernel>(std::move(moves), request.threads), "strided");
  prepared.unread_inputs = ~1u;
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[0] = layout_of(from);
  for (const KernelTensor& output : request.outputs)
    prepared.output_layouts.push_back(layout_of(*same_format(from, output.shape)));
  return prepared;
}

Prepared prepare_split(const KernelRequest& request) {
  if (const char* why = refusal(request)) return Prepared::refuse(why);
  const Shape& whole = request.inputs[0].shape;
  const size_t axis = axis_of(request.attrs<ops::SplitAttrs>().axis, whole.size());
  const Desc from = desc_of(request.inputs[0]);
  const Extents ones(whole.size(), 1);
  Extents begin(whole.size(), 0);
  std::vector<cpu::Move> moves;
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    if (!request.wants(i)) return Prepared::refuse("a part is left out");
    const auto to = same_format(from, request.outputs[i].shape);
    auto move = to ? part(from, *to, begin, ones, i) : std::nullopt;
    if (!move) return Prepared::refuse("blocks of channels are cut");
    moves.push_back(std::move(*move));
    begin[axis] += request.outputs[i].shape[axis];
  }
  return accept(request, std::move(moves), from);
}

std::optional<std::vector<int64_t>> integers(const KernelRequest& request, size_t input) {
  if (!request.has(input)) return std::nullopt;
  return request.inputs[input].constant->to_int64s();
}

Prepared prepare_slice(const KernelRequest& request) {
  if (const char* why = refusal(request)) return Prepared::refuse(why);
  for (size_t input = 1; input < request.inputs.size(); ++input) {
    if (request.has(input) && !request.inputs[input].constant)
      return Prepared::refuse("the ranges are not known ahead");
  }
  const auto ranges =
      ops::slice_ranges(request.inputs[0].shape, *integers(request, 1), *integers(request, 2),
                        integers(request, 3), integers(request, 4));
  Extents begin, step;
  for (const ops::SliceRange& range : ranges) {
    begin.push_back(range.start);
    // The step of a single element is not followed, and may be too large to be multiplied.
    step.push_back(range.length > 1 ? range.step : 1);
  }
  const Desc from = desc_of(request.inputs[0]);
  const auto to = same_format(from, request.outputs[0].shape);
  auto move = to ? part(from, *to, begin, step, 0) : std::nullopt;
  if (!move) return Prepared::refuse("blocks of channels are cut");
  std::vector<cpu::Move> moves;
  moves.push_back(std::move(*move));
  return accept(request, std::move(moves), from);
}

class ShuffleKernel : public Kernel {
 public:
  ShuffleKernel(int64_t pixels, int64_t groups, int64_t channels, int threads)
      : pixels_(pixels), groups_(groups), channels_(channels) {
    const int64_t count = pixels * groups * channels;
    threads_ = static_cast<int>(std::min<int64_t>(threads, count / cpu::kElementsPerThread + 1));
  }
  void run(const KernelArgs& args) const override {
    parallel_for(pixels_, threads_,
                 [&](int64_t begin, int64_t end, int) { run_share(args, begin, end); });
  }

 private:
  void run_share(const KernelArgs& args, int64_t begin, int64_t end) const {
    const int64_t offset = begin * groups_ * channels_;
    cpu::shuffle_pixels(static_cast<const float*>(args.inputs[0]) + offset,
                        static_cast<float*>(args.outputs[0]) + offset,
                        static_cast<size_t>(end - begin), static_cast<size_t>(groups_),
                        static_cast<size_t>(channels_));
  }

  int64_t pixels_, groups_, channels_;
  int threads_;
};

// ChannelShuffle in NHWC only, since no convolution writes other strided layouts.
Prepared prepare_channel_shuffle(const KernelRequest& request) {
  if (const char* why = refusal(request)) return Prepared::refuse(why);
  const Shape& shape = request.inputs[0].shape;
  const Desc from = desc_of(request.inputs[0]);
  if (shape.size() < 3 || shape.size() > 5 ||
      from != channels_last_desc(memory::data_type::f32, shape))
    return Prepared::refuse("channels are not last");
  const int64_t groups = request.attrs<ops::ChannelShuffleAttrs>().groups;
  if (cpu::has_shuffle(static_cast<size_t>(groups))) {
    const int64_t pixels = element_count(shape) / shape[1];
    Prepared prepared = accept(request, {}, from);
    prepared.kernel =
        std::make_unique<ShuffleKernel>(pixels, groups, shape[1] / groups, request.threads);
    prepared.implementation = "interleaved";
    return prepared;
  }
  const int64_t image = element_count(shape) / shape[0];
  StridedBlock block = ops::channel_shuffle_block(groups, shape, image, 1, shape[1]);
  // Written in memory order: batch, inner, channels.
  for (auto* list : {&block.from_strides, &block.to_strides})
    std::rotate(list->begin() + 1, list->begin() + 3, list->end());
  std::rotate(block.sizes.begin() + 1, block.sizes.begin() + 3, block.sizes.end());
  std::vector<cpu::Move> moves;
  moves.push_back({0, 0, BlockCopy(DType::kFloat, std::move(block))});
  return accept(request, std::move(moves), from);
}

bool may_be_image(const KernelTensor& x) {
  constexpr DType kTypes[] = {DType::kFloat, DType::kBFloat16, DType::kUInt8, DType::kInt8};
  return x.shape.size() >= 3 && x.shape.size() <= 5 &&
         std::ranges::find(kTypes, x.dtype) != std::end(kTypes);
}

// Transposes from row-major to NHWC and back, as around convolutions in models whose images are
// NHWC: only the names of dims change, not the memory.
Prepared prepare_transpose_copy(const KernelRequest& request) {
  const KernelTensor &x = request.inputs[0], &y = request.outputs[0];
  if (!request.layouts || !may_be_image(x)) return Prepared::refuse("no image in a layout");
  const auto strides = plain_strides(desc_of(x));
  if (!strides) return Prepared::refuse("channels are in blocks");
  Extents transposed;
  for (const int64_t axis : ops::permutation(request.attrs<ops::TransposeAttrs>(), x.shape.size()))
    transposed.push_back((*strides)[static_cast<size_t>(axis)]);
  StridedBlock block{{y.shape.begin(), y.shape.end()},
                     {transposed.begin(), transposed.end()},
                     row_major_strides(y.shape)};

  const Desc channels_last = channels_last_desc(data_type_of(x.dtype), y.shape);
  const bool becomes_last = transposed == plain_strides(channels_last);
  if (!x.layout && !becomes_last) return Prepared::refuse("the input has no layout");
  Prepared prepared;
  if (becomes_last || block.from_strides == block.to_strides) {
    const auto bytes = static_cast<size_t>(element_count(y.shape)) * element_bytes(x.dtype);
    prepared = Prepared::accept(std::make_unique<cpu::CopyKernel>(bytes), "same order");
  } else {
    std::vector<cpu::Move> moves;
    moves.push_back({0, 0, BlockCopy(x.dtype, std::move(block))});
    prepared = Prepared::accept(
        std::make_unique<cpu::MovementKernel>(std::move(moves), request.threads), "strided");
  }
  prepared.input_layouts = {x.layout};
  if (becomes_last) prepared.output_layouts = {layout_of(channels_last)};
  return prepared;
}

constexpr KernelEntry kLayoutMovementKernels[] = {
    {"Transpose", "copy_in_layout", guarded<prepare_transpose_copy>},
    {"Split", "copy_in_layout", guarded<prepare_split, 1>},
    {"Slice", "copy_in_layout", guarded<prepare_slice, 1>},
    {"sardonyx::ChannelShuffle", "copy_in_layout", guarded<prepare_channel_shuffle>},
};

}  // namespace

std::span<const KernelEntry> copy_in_layout_kernels() {
  return kLayoutMovementKernels;
}

}  // namespace sardonyx::onednn
