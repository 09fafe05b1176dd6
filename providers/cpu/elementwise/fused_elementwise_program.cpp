#include "providers/cpu/elementwise/fused_elementwise_program.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/core/strides.h"
#include "providers/cpu/elementwise/fused_activation.h"

namespace sardonyx::cpu {
namespace {

using OperandStorage = GroupOperand::OperandStorage;
using Kind = GroupInstruction::Kind;
using ops::GroupStep;

// The slots of a tile should fit in half of a small L1 cache.
constexpr int64_t kTileBytes = 24 << 10;
constexpr int64_t kMinTile = 256, kMaxTile = 4096;

int64_t width_of(DType dtype) {
  return bits_of(dtype) / 8;
}

int64_t period_of(const BroadcastLoop& grid) {
  int64_t period = grid.length;
  size_t first = 0;
  while (first < grid.outer_rank && grid.strides[first][0] == 0)
    ++first;
  for (size_t dim = first; dim < grid.outer_rank; ++dim)
    period *= grid.outer[dim];
  return std::max<int64_t>(period, 1);
}

class Compiler {
 public:
  explicit Compiler(const KernelRequest& request)
      : request_(request), target_(request.outputs[0].shape) {}

  GroupProgram compile() {
    const auto& attrs = request_.attrs<ops::FusedElementwiseAttrs>();
    const std::vector<GroupStep> steps = ops::group_steps(attrs, request_.inputs.size());
    const bool works = describe_values(steps) && note_results(attrs) && add_expansions(steps) &&
                       std::ranges::all_of(steps, [&](const GroupStep& s) { return add(s); });
    if (works) note_aliases();
    return std::move(program_);
  }

 private:
  struct GroupValue {
    DType dtype;
    GroupOperand operand;
    std::optional<uint32_t> expansion;  // of an input
    size_t last_use = 0;                // the step that reads it last
  };

  bool refuse(std::string why) {
    program_.refusal = std::move(why);
    return false;
  }

  // Every value is computed in the target's shape: a result of smaller operands is computed
  // repeatedly.
  bool describe_values(const std::vector<GroupStep>& steps) {
    for (const KernelTensor& output : request_.outputs) {
      if (output.shape != target_) return refuse("the outputs have different shapes");
    }
    for (size_t i = 0; i < request_.inputs.size(); ++i) {
      const KernelTensor& input = request_.inputs[i];
      if (bits_of(input.dtype) < 8 || input.dtype == DType::kString)
        return refuse("elements of this type are left to the body");
      if (try_broadcast(input.shape, target_) != target_)
        return refuse("an input is larger than the outputs");
      const bool is_whole = element_count(input.shape) == element_count(target_);
      const bool is_single = element_count(input.shape) == 1;
      GroupOperand operand{OperandStorage::kInput, static_cast<uint32_t>(i), width_of(input.dtype)};
      if (!is_whole) operand.place = is_single ? OperandStorage::kScalar : OperandStorage::kSlot;
      values_.push_back({input.dtype, operand, std::nullopt, 0});
    }
    for (const GroupStep& step : steps) {
      for (const int64_t operand : step.operands)
        value(operand).last_use = values_.size() - request_.inputs.size();
      DType dtype = value(step.operands[step.op->name == "Where" ? 1 : 0]).dtype;
      if (step.op->name == "Cast") dtype = static_cast<DType>(step.params[0]);
      if (is_comparison(step)) dtype = DType::kBool;
      values_.push_back({dtype, {OperandStorage::kSlot, 0, width_of(dtype)}, std::nullopt, 0});
    }
    return true;
  }

  static bool is_comparison(const GroupStep& step) {
    return pair_row_for(step.op->name, DType::kBool) != nullptr;
  }

  bool note_results(const ops::FusedElementwiseAttrs& attrs) {
    for (size_t i = 0; i < attrs.results.size(); ++i) {
      if (attrs.results[i] < static_cast<int64_t>(request_.inputs.size()))
        return refuse("an input is an output");
      GroupOperand& operand = value(attrs.results[i]).operand;
      if (operand.place == OperandStorage::kOutput) return refuse("an output is given twice");
      operand.place = OperandStorage::kOutput;
      operand.index = static_cast<uint32_t>(i);
    }
    return true;
  }

  // Expands broadcast inputs, and scalars for row functions that need a full row.
  bool add_expansions(const std::vector<GroupStep>& steps) {
    for (const GroupStep& step : steps) {
      bool is_first_alone = !find_binary(step.op->name) && !is_comparison(step);
      if (step.op->name == "Where") is_first_alone = false;
      bool any_steps = false;
      for (const int64_t operand : step.operands)
        any_steps = any_steps || value(operand).operand.place != OperandStorage::kScalar;
      if ((is_first_alone || !any_steps) &&
          value(step.operands[0]).operand.place == OperandStorage::kScalar) {
        value(step.operands[0]).operand.place = OperandStorage::kSlot;
      }
    }
    for (size_t i = 0; i < request_.inputs.size(); ++i) {
      if (values_[i].operand.place != OperandStorage::kSlot) continue;
      const Shape* shape = &request_.inputs[i].shape;
      const auto grid = BroadcastLoop::of(target_, {&shape, 1});
      if (!grid) return refuse("the broadcast has too many dims");
      values_[i].expansion = static_cast<uint32_t>(program_.expansions.size());
      program_.expansions.push_back(
          {*grid, static_cast<uint32_t>(i), values_[i].operand.width, period_of(*grid)});
    }
    choose_tile();
    for (size_t i = 0; i < request_.inputs.size(); ++i) {
      if (values_[i].expansion && is_cached(*values_[i].expansion)) expand(i);
    }
    program_.once = program_.instructions.size();
    return true;
  }

  bool is_cached(uint32_t expansion) const {
    return program_.tile % program_.expansions[expansion].period == 0;
  }

  // A multiple of the longest period that fits, so that broadcast inputs are expanded once.
  void choose_tile() {
    int64_t bytes = 0;
    for (const GroupValue& each : values_)
      bytes += each.operand.place == OperandStorage::kScalar ? 0 : each.operand.width;
    // Slots are used again, so long groups hold fewer values at once than they have.
    bytes = std::clamp<int64_t>(bytes, 1, 32);
    const int64_t most = std::clamp(kTileBytes / bytes, kMinTile, kMaxTile);
    program_.tile = most / 64 * 64;
    int64_t longest = 0;
    for (const Expansion& expansion : program_.expansions) {
      if (expansion.period <= most) longest = std::max(longest, expansion.period);
    }
    if (longest > 0) program_.tile = most / longest * longest;
  }

  GroupValue& value(int64_t number) { return values_[static_cast<size_t>(number)]; }

  uint32_t take_slot(int64_t width) {
    program_.slot_width = std::max(program_.slot_width, width);
    if (free_slots_.empty()) return static_cast<uint32_t>(program_.slots++);
    const uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }

  void expand(size_t input) {
    GroupValue& each = values_[input];
    each.operand.index = take_slot(each.operand.width);
    GroupInstruction instruction{Kind::kExpand};
    instruction.expansion = *each.expansion;
    instruction.out = each.operand;
    program_.instructions.push_back(instruction);
    is_expanded_.push_back(static_cast<int64_t>(input));
  }

  // Frees the slots of operands whose last use is step `index`, but for cached expansions.
  void free_operands(const GroupStep& step, size_t index) {
    for (const int64_t operand : step.operands) {
      GroupValue& each = value(operand);
      const bool stays = each.expansion && is_cached(*each.expansion);
      if (each.operand.place != OperandStorage::kSlot || each.last_use != index || stays) continue;
      if (std::ranges::count(free_slots_, each.operand.index) == 0)
        free_slots_.push_back(each.operand.index);
    }
  }

  bool add(const GroupStep& step) {
    const size_t index = step_++;
    GroupValue& result = values_[request_.inputs.size() + index];
    for (const int64_t operand : step.operands) {
      const bool is_done = std::ranges::count(is_expanded_, operand) > 0;
      if (value(operand).expansion && !is_done) expand(static_cast<size_t>(operand));
    }
    GroupInstruction made{Kind::kUnary};
    for (const int64_t operand : step.operands)
      made.in[made.in_count++] = value(operand).operand;
    if (!choose_row(step, result.dtype, made)) return false;
    if (made.works_in_place()) free_operands(step, index);
    if (result.operand.place == OperandStorage::kSlot)
      result.operand.index = take_slot(result.operand.width);
    if (!made.works_in_place()) free_operands(step, index);
    made.out = result.operand;
    program_.instructions.push_back(made);
    return true;
  }

  bool choose_row(const GroupStep& step, DType result, GroupInstruction& made) {
    const std::string_view name = step.op->name;
    const DType first = value(step.operands[0]).dtype;
    if (name == "Cast") {
      made.kind = Kind::kCast;
      made.cast = cast_row_for(first, result);
      return made.cast || refuse("Cast between these types is left to the body");
    }
    if (name == "Not") {
      made.kind = Kind::kNot;
      return true;
    }
    if (name == "Where") {
      made.kind = Kind::kChoose;
      std::array<bool, 3> steps{};
      for (size_t i = 0; i < 3; ++i)
        steps[i] = made.in[i].place != OperandStorage::kScalar;
      made.choose = choose_row_for(bits_of(result), steps);
      return made.choose || refuse("Where of these types is left to the body");
    }
    if (is_comparison(step)) {
      made.kind = Kind::kPair;
      made.pair = pair_row_for(name, first);
      return made.pair || refuse("a comparison of these types is left to the body");
    }
    if (result != DType::kFloat) return refuse("only float is computed here");
    return choose_float_row(step, made);
  }

  bool choose_float_row(const GroupStep& step, GroupInstruction& made) {
    if (const Unary unary = find_unary(step.op->name)) {
      made.kind = Kind::kUnary;
      made.unary = unary;
      made.params = unary_params(step.params);
      return true;
    }
    const auto binary = find_binary(step.op->name);
    if (!binary) return refuse("there is no row function for an op");
    if (value(step.operands[1]).dtype != DType::kFloat)
      return refuse("an operand has another type");
    made.kind = Kind::kBinary;
    made.binary = *binary;
    if (*binary == Binary::kPow) choose_power(step, made);
    return true;
  }

  // Constant exponents, as the kernel of Pow alone does.
  void choose_power(const GroupStep& step, GroupInstruction& made) {
    if (step.operands[1] >= static_cast<int64_t>(request_.inputs.size())) return;
    const Tensor* exponent = request_.inputs[static_cast<size_t>(step.operands[1])].constant;
    const bool is_whole =
        made.in[0].place != OperandStorage::kScalar && !value(step.operands[0]).expansion;
    if (!exponent || exponent->count() != 1 || !is_whole) return;
    const auto power = unary_power(exponent->to_doubles()[0]);
    if (!power) return;
    made.kind = Kind::kUnary;
    made.unary = *power;
  }

  // An output may alias an input of its width that no later instruction reads.
  void note_aliases() {
    const auto& all = program_.instructions;
    for (size_t o = 0; o < request_.outputs.size(); ++o) {
      std::vector<bool> row(request_.inputs.size());
      for (size_t i = 0; i < row.size(); ++i) {
        if (values_[i].operand.place != OperandStorage::kInput) continue;
        size_t writes = all.size();
        size_t last_read = 0;
        for (size_t k = 0; k < all.size(); ++k) {
          if (all[k].out.place == OperandStorage::kOutput && all[k].out.index == o) writes = k;
          for (size_t operand = 0; operand < all[k].in_count; ++operand) {
            const GroupOperand& in = all[k].in[operand];
            if (in.place == OperandStorage::kInput && in.index == i) last_read = k;
          }
        }
        if (writes == all.size() || all[writes].out.width != values_[i].operand.width) continue;
        row[i] = last_read < writes || (last_read == writes && all[writes].works_in_place());
      }
      program_.aliases.push_back(std::move(row));
    }
  }

  const KernelRequest& request_;
  const Shape& target_;
  GroupProgram program_;
  std::vector<GroupValue> values_;
  std::vector<uint32_t> free_slots_;
  std::vector<int64_t> is_expanded_;  // inputs that have a slot by now
  size_t step_ = 0;
};

void fill(const std::byte* in, int64_t width, int64_t count, std::byte* out) {
  const auto fill_as = [&]<typename T>(T value) {
    std::memcpy(&value, in, sizeof value);
    std::fill_n(reinterpret_cast<T*>(out), count, value);
  };
  if (width == 1) return fill_as(uint8_t{});
  if (width == 2) return fill_as(uint16_t{});
  if (width == 4) return fill_as(uint32_t{});
  fill_as(uint64_t{});
}

}  // namespace

void Expansion::expand(const std::byte* in, int64_t begin, int64_t count, std::byte* out) const {
  while (count > 0) {
    const int64_t row = begin / grid.length;
    const int64_t first = begin - row * grid.length;
    const int64_t length = std::min(grid.length - first, count);
    const std::byte* from = in + (grid.offsets_of(row)[0] + (grid.steps[0] ? first : 0)) * width;
    if (grid.steps[0])
      std::memcpy(out, from, static_cast<size_t>(length * width));
    else
      fill(from, width, length, out);
    out += length * width;
    begin += length;
    count -= length;
  }
}

GroupProgram GroupProgram::of(const KernelRequest& request) {
  return Compiler(request).compile();
}

}  // namespace sardonyx::cpu
