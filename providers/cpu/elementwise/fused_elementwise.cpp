// FusedElementwise, tile by tile: intermediate results stay in the nearest cache. Each op runs the
// row function of its unfused kernel, so results are bit for bit the same.
#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/elementwise/fused_elementwise.h"
#include "providers/cpu/elementwise/fused_elementwise_program.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

using OperandStorage = GroupOperand::OperandStorage;
using Kind = GroupInstruction::Kind;

class FusedElementwiseKernel : public Kernel {
 public:
  FusedElementwiseKernel(GroupProgram program, const KernelRequest& request)
      : program_(std::move(program)), total_(element_count(request.outputs[0].shape)) {
    const auto work = total_ * static_cast<int64_t>(program_.instructions.size());
    threads_ =
        static_cast<int>(std::min<int64_t>(request.threads, work / (2 * kElementsPerThread) + 1));
    slot_bytes_ = static_cast<size_t>((program_.tile * program_.slot_width + 63) / 64 * 64);
  }

  size_t scratch_bytes() const override {
    return slot_bytes_ * program_.slots * static_cast<size_t>(threads_);
  }
  bool may_alias(size_t output, size_t input) const override {
    return program_.aliases[output][input];
  }

  void run(const KernelArgs& args) const override {
    const int64_t tiles = (total_ + program_.tile - 1) / program_.tile;
    const CancelFlag sign;
    parallel_workers(tiles, threads_, [&](int seat, const auto& take) {
      std::byte* scratch = args.scratch + slot_bytes_ * program_.slots * static_cast<size_t>(seat);
      size_t from = 0;
      take([&](int64_t begin, int64_t end) { run_tiles(args, begin, end, scratch, from, sign); });
    });
    sign.check();
  }

 private:
  struct Tile {
    const KernelArgs& args;
    std::byte* scratch;
    int64_t begin, count;  // in elements
  };

  // `from` is the first instruction for the next tile: the first tile of a thread also runs the
  // instructions whose results its scratch keeps for all tiles.
  void run_tiles(const KernelArgs& args, int64_t first, int64_t last, std::byte* scratch,
                 size_t& from, const CancelFlag& sign) const {
    const auto work = program_.tile * static_cast<int64_t>(program_.instructions.size());
    const int64_t mask = poll_mask(work);
    for (int64_t tile = first; tile < last; ++tile, from = program_.once) {
      if ((tile & mask) == mask && sign.ask()) return;
      const int64_t begin = tile * program_.tile;
      const Tile at{args, scratch, begin, std::min(program_.tile, total_ - begin)};
      for (size_t i = from; i < program_.instructions.size(); ++i)
        run_instruction(program_.instructions[i], at);
    }
  }

  std::byte* slot(const GroupOperand& operand, const Tile& tile) const {
    return tile.scratch + operand.index * slot_bytes_;
  }

  const std::byte* source(const GroupOperand& operand, const Tile& tile) const {
    if (operand.place == OperandStorage::kSlot) return slot(operand, tile);
    if (operand.place == OperandStorage::kOutput) return target(operand, tile);
    const auto* input = static_cast<const std::byte*>(tile.args.inputs[operand.index]);
    return operand.place == OperandStorage::kScalar ? input : input + tile.begin * operand.width;
  }

  std::byte* target(const GroupOperand& operand, const Tile& tile) const {
    if (operand.place == OperandStorage::kSlot) return slot(operand, tile);
    return static_cast<std::byte*>(tile.args.outputs[operand.index]) + tile.begin * operand.width;
  }

  void run_instruction(const GroupInstruction& step, const Tile& tile) const {
    std::byte* out = target(step.out, tile);
    if (step.kind == Kind::kExpand) {
      const Expansion& expansion = program_.expansions[step.expansion];
      const auto* in = static_cast<const std::byte*>(tile.args.inputs[expansion.input]);
      return expansion.expand(in, tile.begin, tile.count, out);
    }
    std::array<const std::byte*, 3> in{};
    for (size_t i = 0; i < step.in_count; ++i)
      in[i] = source(step.in[i], tile);
    const auto steps = [&](size_t i) { return step.in[i].place != OperandStorage::kScalar; };
    const auto floats = [&](size_t i) { return reinterpret_cast<const float*>(in[i]); };
    const auto count = static_cast<size_t>(tile.count);
    switch (step.kind) {
      case Kind::kExpand:
        return;
      case Kind::kUnary:
        return unary_row(step.unary, step.params, floats(0), reinterpret_cast<float*>(out), count);
      case Kind::kBinary:
        return binary_row(step.binary, floats(0), steps(0), floats(1), steps(1),
                          reinterpret_cast<float*>(out), count);
      case Kind::kPair:
        return step.pair(in[0], steps(0), in[1], steps(1), reinterpret_cast<bool*>(out),
                         tile.count);
      case Kind::kNot:
        return not_row(reinterpret_cast<const uint8_t*>(in[0]), reinterpret_cast<bool*>(out),
                       tile.count);
      case Kind::kChoose:
        return step.choose(
            {reinterpret_cast<const uint8_t*>(in[0]), in[1], in[2], out, tile.count});
      case Kind::kCast:
        return step.cast(in[0], out, count);
    }
  }

  GroupProgram program_;
  int64_t total_;
  int threads_ = 1;
  size_t slot_bytes_ = 0;
};

Prepared prepare_group(const KernelRequest& request) {
  GroupProgram program = GroupProgram::of(request);
  if (!program.refusal.empty()) return Prepared::refuse(std::move(program.refusal));
  return Prepared::accept(std::make_unique<FusedElementwiseKernel>(std::move(program), request),
                          "tiles");
}

constexpr KernelEntry kFusedElementwiseEntries[] = {
    {"sardonyx::FusedElementwise", "fused_elementwise", prepare_group},
};

}  // namespace

std::span<const KernelEntry> fused_elementwise_kernels() {
  return kFusedElementwiseEntries;
}

}  // namespace sardonyx::cpu
