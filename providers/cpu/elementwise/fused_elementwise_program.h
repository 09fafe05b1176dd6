// The instructions of a FusedElementwise group on one tile: the row function of each, and the
// memory of its operands and its result.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "ir/ops/elementwise/fused_elementwise.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/compare_select_kernel.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"

namespace sardonyx::cpu {

// An input with more than one element that is broadcast over the target.
struct Expansion {
  BroadcastLoop grid;
  uint32_t input = 0;
  int64_t width = 0;   // bytes of an element
  int64_t period = 0;  // elements of the target after which it repeats

  // Writes elements [begin, begin + count) of the broadcast input to `out`.
  void expand(const std::byte* in, int64_t begin, int64_t count, std::byte* out) const;
};

struct GroupOperand {
  enum class OperandStorage : uint8_t {
    kInput,   // of the target's shape
    kScalar,  // an input of one element
    kSlot,    // a tile of its own
    kOutput,
  } place = OperandStorage::kSlot;
  uint32_t index = 0;
  int64_t width = 0;  // bytes of an element
};

struct GroupInstruction {
  enum class Kind : uint8_t { kExpand, kUnary, kBinary, kPair, kNot, kChoose, kCast } kind;
  std::array<GroupOperand, 3> in{};
  size_t in_count = 0;
  GroupOperand out;
  uint32_t expansion = 0;
  Unary unary{};
  UnaryParams params{};
  Binary binary{};
  PairRow pair = nullptr;
  ChooseRow choose = nullptr;
  CastRow cast = nullptr;

  // True if `out` may be in the memory of an operand of the same width.
  bool works_in_place() const { return kind == Kind::kUnary || kind == Kind::kBinary; }
};

struct GroupProgram {
  std::vector<GroupInstruction> instructions;
  std::vector<Expansion> expansions;
  size_t slots = 0;
  int64_t slot_width = 1;  // bytes of an element of the widest slot
  int64_t tile = 0;        // elements
  // Leading instructions whose results stay valid for all tiles, so only the first tile runs them.
  size_t once = 0;
  // may_alias of [output][input].
  std::vector<std::vector<bool>> aliases;
  std::string refusal;  // why there is no program; empty where there is one

  static GroupProgram of(const KernelRequest& request);
};

}  // namespace sardonyx::cpu
