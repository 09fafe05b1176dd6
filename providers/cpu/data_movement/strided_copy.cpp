// Ops that only move elements, of every type of whole bytes: each is a few strided blocks, worked
// out ahead and shared out among threads.
#include "providers/cpu/data_movement/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/ops/data_movement/channel_shuffle.h"
#include "ir/ops/data_movement/concat_split.h"
#include "ir/ops/data_movement/shape.h"
#include "ir/ops/data_movement/space_depth.h"
#include "ir/ops/reference/padded_copy.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

constexpr int64_t kMaxElements = 1 << 22;  // of one piece of a share, where it can be cut so fine

int threads_for(int64_t elements, int threads) {
  return static_cast<int>(std::min<int64_t>(threads, elements / kElementsPerThread + 1));
}

class PadKernel : public Kernel {
 public:
  PadKernel(const KernelRequest& request, const std::optional<StridedBlock>& kept)
      : copy_(request.inputs[0].dtype, element_count(request.outputs[0].shape), kept),
        has_value_(request.has(2)),
        threads_(threads_for(copy_.count(), request.threads)) {}

  void run(const KernelArgs& args) const override {
    const uint64_t zeros[2] = {};
    const void* value = has_value_ ? args.inputs[2] : zeros;
    const int64_t pieces = copy_.count() / threads_ / kMaxElements + 1;
    parallel_run(threads_, [&](int64_t share, int64_t shares, const CancelFlag& sign) {
      for (int64_t piece = 0; piece < pieces && (piece == 0 || !sign.ask()); ++piece) {
        copy_.run_part(args.inputs[0], value, args.outputs[0], share * pieces + piece,
                       shares * pieces);
      }
    });
  }

 private:
  PaddedCopy copy_;
  bool has_value_;
  int threads_;
};

const char* why_unsupported(const KernelRequest& request) {
  return why_unsupported_elements(request.inputs[0].dtype);
}

Prepared accept(const KernelRequest& request, std::vector<Move> moves) {
  return Prepared::accept(std::make_unique<MovementKernel>(std::move(moves), request.threads),
                          "strided");
}

// One block from input 0 to output 0; the other inputs are not read.
Prepared accept_one(const KernelRequest& request, StridedBlock block) {
  std::vector<Move> moves;
  moves.push_back({0, 0, BlockCopy(request.inputs[0].dtype, std::move(block))});
  Prepared prepared = accept(request, std::move(moves));
  prepared.unread_inputs = ~1u;
  return prepared;
}

Prepared prepare_transpose(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  return accept_one(
      request, ops::transpose_block(request.attrs<ops::TransposeAttrs>(), request.inputs[0].shape));
}

Prepared prepare_expand(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  return accept_one(request, ops::expand_block(request.inputs[0].shape, request.outputs[0].shape));
}

Prepared prepare_tile(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  if (element_count(request.outputs[0].shape) == 0)
    return Prepared::refuse("there are no elements");
  return accept_one(request, ops::tile_block(request.inputs[0].shape, request.outputs[0].shape));
}

Prepared prepare_depth_to_space(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  return accept_one(request, ops::depth_to_space_block(request.attrs<ops::DepthToSpaceAttrs>(),
                                                       request.inputs[0].shape));
}

Prepared prepare_space_to_depth(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  return accept_one(request, ops::space_to_depth_block(request.attrs<ops::SpaceToDepthAttrs>(),
                                                       request.inputs[0].shape));
}

Prepared prepare_channel_shuffle(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  const Shape& shape = request.inputs[0].shape;
  const int64_t count = element_count(shape);
  if (count == 0) return Prepared::refuse("there are no elements");
  const int64_t image = count / shape[0];
  return accept_one(
      request, ops::channel_shuffle_block(request.attrs<ops::ChannelShuffleAttrs>().groups, shape,
                                          image, image / shape[1], 1));
}

bool knows_inputs_from(const KernelRequest& request, size_t first) {
  return std::ranges::all_of(request.inputs.subspan(std::min(first, request.inputs.size())),
                             [](const KernelTensor& input) { return !input || input.constant; });
}

std::optional<std::vector<int64_t>> integers(const KernelRequest& request, size_t input) {
  if (!request.has(input)) return std::nullopt;
  return request.inputs[input].constant->to_int64s();
}

Prepared prepare_slice(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  if (!knows_inputs_from(request, 1)) return Prepared::refuse("the ranges are not known ahead");
  const auto ranges =
      ops::slice_ranges(request.inputs[0].shape, *integers(request, 1), *integers(request, 2),
                        integers(request, 3), integers(request, 4));
  return accept_one(request, ops::slice_block(request.inputs[0].shape, ranges));
}

Prepared prepare_split(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  const Shape& whole = request.inputs[0].shape;
  const size_t axis = axis_of(request.attrs<ops::SplitAttrs>().axis, whole.size());
  std::vector<Move> moves;
  int64_t begin = 0;
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    const Shape& part = request.outputs[i].shape;
    if (!request.wants(i)) return Prepared::refuse("a part is left out");
    moves.push_back(
        {0, i, BlockCopy(request.inputs[0].dtype, ops::block_out_of(whole, axis, begin, part))});
    begin += part[axis];
  }
  Prepared prepared = accept(request, std::move(moves));
  prepared.unread_inputs = ~1u;
  return prepared;
}

Prepared prepare_concat(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  const Shape& whole = request.outputs[0].shape;
  const size_t axis = axis_of(request.attrs<ops::ConcatAttrs>().axis, whole.size());
  std::vector<Move> moves;
  int64_t begin = 0;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const Shape& part = request.inputs[i].shape;
    moves.push_back(
        {i, 0, BlockCopy(request.inputs[i].dtype, ops::block_into(whole, axis, begin, part))});
    begin += part[axis];
  }
  return accept(request, std::move(moves));
}

Prepared prepare_pad(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  if (ops::pad_mode(request.attrs<ops::PadAttrs>()) != ops::PadMode::kConstant)
    return Prepared::refuse("only constants are padded with here");
  for (const size_t input : {1, 3}) {
    if (request.has(input) && !request.inputs[input].constant)
      return Prepared::refuse("the amounts are not known ahead");
  }
  const Shape &from = request.inputs[0].shape, &to = request.outputs[0].shape;
  const auto pads = ops::pad_amounts(from.size(), *integers(request, 1), integers(request, 3));
  Prepared prepared = Prepared::accept(
      std::make_unique<PadKernel>(request, ops::pad_block(from, to, pads)), "strided");
  prepared.unread_inputs = 1u << 1 | 1u << 3;
  return prepared;
}

constexpr KernelEntry kMovementEntries[] = {
    {"Transpose", "strided_copy", prepare_transpose},
    {"Expand", "strided_copy", prepare_expand},
    {"Tile", "strided_copy", prepare_tile},
    {"DepthToSpace", "strided_copy", prepare_depth_to_space},
    {"SpaceToDepth", "strided_copy", prepare_space_to_depth},
    {"Slice", "strided_copy", prepare_slice},
    {"Split", "strided_copy", prepare_split},
    {"Concat", "strided_copy", prepare_concat},
    {"Pad", "strided_copy", prepare_pad},
    {"sardonyx::ChannelShuffle", "strided_copy", prepare_channel_shuffle},
};

}  // namespace

MovementKernel::MovementKernel(std::vector<Move> moves, int threads) : moves_(std::move(moves)) {
  int64_t total = 0;
  for (const Move& move : moves_)
    total += move.copy.count();
  threads_ = threads_for(total, threads);
}

void MovementKernel::run(const KernelArgs& args) const {
  parallel_run(threads_, [&](int64_t share, int64_t shares, const CancelFlag& sign) {
    run_share(args, share, shares, sign);
  });
}

void MovementKernel::run_share(const KernelArgs& args, int64_t share, int64_t shares,
                               const CancelFlag& sign) const {
  int64_t moved = 0;  // since the last check of the deadline
  for (const Move& move : moves_) {
    const int64_t pieces = move.copy.count() / shares / kMaxElements + 1;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      if (moved >= kMaxElements && sign.ask()) return;
      if (moved >= kMaxElements) moved = 0;
      move.copy.run_part(args.inputs[move.input], args.outputs[move.output], share * pieces + piece,
                         shares * pieces);
      moved += move.copy.count() / shares / pieces;
    }
  }
}

void CopyKernel::run(const KernelArgs& args) const {
  if (args.inputs[0] != args.outputs[0]) std::memcpy(args.outputs[0], args.inputs[0], bytes_);
}

std::span<const KernelEntry> strided_copy_kernels() {
  return kMovementEntries;
}

}  // namespace sardonyx::cpu
