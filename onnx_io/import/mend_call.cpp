// Calls whose arguments deviate from what the operator asks for, and say what they mean all the
// same.
#include <algorithm>

#include "ir/op_def.h"
#include "onnx_io/import/importer.h"

namespace sardonyx::onnx_import {

using onnx_schema::NodeProto;

namespace {

// Arguments, by input, that are to be scalars or lists; bit i is input i.
struct ArgumentRanks {
  std::string_view op;
  uint32_t scalars, lists;
};
constexpr ArgumentRanks kArgumentRanks[] = {
    {"BlackmanWindow", 0b1, 0},
    {"Compress", 0, 0b10},
    {"DFT", 0b110, 0},
    {"Expand", 0, 0b10},
    {"GroupNormalization", 0, 0b110},
    {"HammingWindow", 0b1, 0},
    {"HannWindow", 0b1, 0},
    {"If", 0b1, 0},
    {"Loop", 0b11, 0},
    {"MelWeightMatrix", 0b11111, 0},
    {"NonMaxSuppression", 0b11100, 0},
    {"Pad", 0b100, 0b10},
    {"Resize", 0, 0b1110},
    {"STFT", 0b1010, 0},
    {"Upsample", 0, 0b10},
};

// Whether an argument of another rank holds one element, or a list along one of its dims.
bool holds_argument(const Type& type, bool is_scalar) {
  if (!type.is_tensor() || !type.has_rank() || type.rank() == (is_scalar ? 0 : 1)) return false;
  const auto longer =
      std::ranges::count_if(*type.shape, [](const Dim& dim) { return dim != Dim(1); });
  return longer <= (is_scalar ? 0 : 1) && !(is_scalar && type.rank() == 1);
}

}  // namespace

// ONNX Runtime reads the elements of these arguments whatever their rank is.
void Importer::mend_ranks(RawCall& call, const NodeProto& node) const {
  const auto* const row = std::ranges::find(kArgumentRanks, call.op, &ArgumentRanks::op);
  if (!call.domain.empty() || row == std::end(kArgumentRanks)) return;
  // The first form of Resize has the scales in place of the regions.
  const uint32_t lists = call.op == "Resize" && call.version < 11 ? 0b10 : row->lists;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool is_scalar = has_bit(row->scalars, i);
    if (!call.has_input(i) || !(is_scalar || has_bit(lists, i))) continue;
    const Type type = call.emitter.type(call.inputs[i]);
    if (!holds_argument(type, is_scalar)) continue;
    leniency_.tolerate(kArgumentRank, label_of(node), ": input ", i, " (", type, "): expected ",
                       is_scalar ? "a scalar" : "one dimension", "; its elements are taken");
    const std::optional<Tensor> value = call.emitter.constant_value(call.inputs[i]);
    call.inputs[i] =
        value ? call.emitter.constant(value->reshaped(is_scalar ? Shape{} : Shape{value->count()}))
              : call.emitter.call(
                    "Reshape", {call.inputs[i],
                                call.emitter.int64s(std::vector<int64_t>(is_scalar ? 0 : 1, -1))});
  }
}

// Lists that are longer are no slip; each axis is compared with all others.
constexpr size_t kMostAxes = 64;

// An axis that is reduced or squeezed twice is so once.
void Importer::mend_axes(RawCall& call, const NodeProto& node) const {
  if (!call.domain.empty() || !(call.op.starts_with("Reduce") || call.op == "Squeeze")) return;
  if (!call.has_input(0)) return;
  const auto attribute = call.attrs.find("axes");
  auto* const given = attribute == call.attrs.end()
                          ? nullptr
                          : std::get_if<std::vector<int64_t>>(&attribute->second);
  std::optional<Tensor> list;
  if (call.has_input(1)) list = call.emitter.constant_value(call.inputs[1]);
  if (!given && (!list || list->dtype() != DType::kInt64)) return;
  const Type type = call.emitter.type(call.inputs[0]);
  const auto rank = type.has_rank() ? static_cast<int64_t>(type.rank()) : 0;
  const auto counted = [&](int64_t axis) { return axis < 0 && axis >= -rank ? axis + rank : axis; };
  std::vector<int64_t> axes;
  const std::vector<int64_t> all = given ? *given : list->to_int64s();
  if (all.size() > kMostAxes) return;
  for (const int64_t axis : all) {
    const auto is_same = [&](int64_t other) { return counted(other) == counted(axis); };
    if (std::ranges::none_of(axes, is_same)) axes.push_back(axis);
  }
  if (axes.size() == all.size()) return;
  leniency_.tolerate(kRepeatedAxis, label_of(node), ": an axis is given twice; it counts once");
  if (given)
    *given = axes;
  else
    call.inputs[1] = call.emitter.int64s(axes);
}

// Flags that ONNX Runtime takes for set where they are 1, and for not set otherwise; of all others
// each number but 0 sets them.
constexpr std::string_view kSetByOneAlone[] = {
    "allowzero", "ceil_mode", "interleaved",          "is_causal",
    "keepdims",  "largest",   "noop_with_empty_axes", "training_mode"};

bool is_set_by_one_alone(std::string_view op, std::string_view flag) {
  if (op == "SplitToSequence") return false;
  if (flag == "saturate") return op == "Cast" || op == "CastLike";
  return std::ranges::count(kSetByOneAlone, flag) > 0 || (op == "Unique" && flag == "sorted");
}

void Importer::mend_flags(RawCall& call, const NodeProto& node) const {
  if (!call.domain.empty()) return;
  for (auto& [name, value] : call.attrs) {
    auto* const flag = std::get_if<int64_t>(&value);
    if (!flag || *flag == 0 || *flag == 1 || !is_set_by_one_alone(call.op, name)) continue;
    leniency_.tolerate(kFlagValue, label_of(node), ": attribute ", name, ": expected 0 or 1, got ",
                       *flag, "; taken for 0, as ONNX Runtime does");
    *flag = 0;
  }
}

// A slope that X broadcasts to: what is broadcast is X.
void Importer::mend_slope(RawCall& call, const NodeProto& node) const {
  if (!call.domain.empty() || call.op != "PRelu" || !call.has_input(0) || !call.has_input(1))
    return;
  const Type x = call.emitter.type(call.inputs[0]), slope = call.emitter.type(call.inputs[1]);
  if (call.version < 7 || !x.has_rank() || !slope.has_rank()) return;
  bool is_wider = slope.rank() > x.rank();
  for (size_t i = 1; i <= std::min(x.rank(), slope.rank()); ++i) {
    const Dim &from = (*slope.shape)[slope.rank() - i], &to = (*x.shape)[x.rank() - i];
    is_wider = is_wider || (to == Dim(1) && from.is_known() && from != Dim(1));
  }
  if (!is_wider) return;
  leniency_.tolerate(kSlopeShape, label_of(node), ": input slope (", slope,
                     ") does not broadcast to X (", x, "); X is broadcast to it");
  const Val sizes = call.emitter.call("Shape", {call.inputs[1]});
  call.inputs[0] = call.emitter.call("Expand", {call.inputs[0], sizes});
}

// Broadcasts one scale or bias for all, as ONNX's definition does. Where the length is
// known in a run alone, it may be one there.
void Importer::mend_group_scales(RawCall& call, const NodeProto& node) const {
  if (!call.domain.empty() || call.op != "GroupNormalization" || !call.has_input(0)) return;
  const Type x = call.emitter.type(call.inputs[0]);
  if (x.has_rank() && x.rank() < 2) return;
  const bool is_by_group = call.version < 21;
  const auto found = call.attrs.find("num_groups");
  const auto* const groups =
      found == call.attrs.end() ? nullptr : std::get_if<int64_t>(&found->second);
  if (is_by_group && (!groups || *groups < 1)) return;
  std::optional<Dim> expected;  // none where the rank of X is unknown
  if (is_by_group) expected = Dim(*groups);
  if (!is_by_group && x.has_rank()) expected = (*x.shape)[1];
  const std::string wanted =
      text(expected ? text(*expected, " ") : std::string("as many as X has "),
           is_by_group ? "groups" : "channels");
  for (size_t i = 1; i < std::min<size_t>(call.inputs.size(), 3); ++i) {
    if (!call.has_input(i) || expected == Dim(1)) continue;
    const Type type = call.emitter.type(call.inputs[i]);
    if (type.has_rank() && (type.rank() != 1 || type.shape->front() == expected)) continue;
    const bool is_known = type.has_rank() && type.shape->front().is_known();
    if (is_known && type.shape->front() != Dim(1)) continue;
    if (!is_known && leniency_.is_strict()) continue;
    leniency_.tolerate(kOneElementScale, label_of(node), ": input ", i == 1 ? "scale" : "bias",
                       " (", type, "): expected ", wanted, "; ",
                       is_known ? "the element counts for each"
                                : "where a run gives one element, it counts for each");
    const Val count = is_by_group ? call.emitter.int64s({*groups})
                                  : call.emitter.call("Shape", {call.inputs[0]},
                                                      {{"start", int64_t{1}}, {"end", int64_t{2}}});
    call.inputs[i] = call.emitter.call("Expand", {call.inputs[i], count});
  }
}

// The default axes are for images. ONNX Runtime leaves out those that X does not have, unless that
// leaves none.
void Importer::mend_statistics_axes(RawCall& call, const NodeProto& node) const {
  if (!call.domain.empty() || call.op != "MeanVarianceNormalization" || call.version < 9) return;
  const Type x = call.has_input(0) ? call.emitter.type(call.inputs[0]) : Type::none();
  if (!x.has_rank()) return;
  const auto rank = static_cast<int64_t>(x.rank());
  std::vector<int64_t> axes{0, 2, 3};
  if (const auto given = call.attrs.find("axes"); given != call.attrs.end()) {
    const auto* const list = std::get_if<std::vector<int64_t>>(&given->second);
    if (!list) return;
    axes = *list;
  }
  const size_t all = axes.size();
  std::erase_if(axes, [&](int64_t axis) { return axis >= rank; });
  if (axes.empty() || axes.size() == all) return;
  leniency_.tolerate(kMissingAxis, label_of(node), ": X (", x, ") has not all of the axes; those ",
                     "that it lacks are left out");
  call.attrs.insert_or_assign("axes", axes);
}

// The elements that Compress chooses among; nullopt where a run alone tells how many they are.
std::optional<int64_t> elements_chosen_among(const RawCall& call) {
  const Type x = call.emitter.type(call.inputs[0]);
  if (!x.has_rank()) return std::nullopt;
  std::vector<Dim> dims(*x.shape);
  if (const auto given = call.attrs.find("axis"); given != call.attrs.end()) {
    const auto* const axis = std::get_if<int64_t>(&given->second);
    const auto rank = static_cast<int64_t>(dims.size());
    if (!axis || *axis < -rank || *axis >= rank) return std::nullopt;
    dims = {dims[static_cast<size_t>(*axis < 0 ? *axis + rank : *axis)]};
  }
  int64_t count = 1;
  for (const Dim& dim : dims) {
    if (!dim.is_known() || __builtin_mul_overflow(count, dim.value(), &count)) return std::nullopt;
  }
  return count;
}

// numpy refuses a condition that chooses beyond the end; ONNX leaves it open, and ONNX Runtime
// looks at no more elements than there are to choose among.
void mend_condition(RawCall& call, const NodeProto& node, const Leniency& leniency) {
  if (!call.domain.empty() || call.op != "Compress" || !call.has_input(0) || !call.has_input(1))
    return;
  const Type condition = call.emitter.type(call.inputs[1]);
  const std::optional<int64_t> count = elements_chosen_among(call);
  if (!count || !condition.has_rank() || condition.rank() != 1) return;
  const Dim& length = condition.shape->front();
  if (!length.is_known() || length.value() <= *count) return;
  leniency.tolerate(kConditionLength, label_of(node), ": input condition (", condition,
                    "): expected at most ", *count, " elements; those beyond choose nothing");
  call.inputs[1] =
      call.emitter.call("Slice", {call.inputs[1], call.emitter.int64s({0}),
                                  call.emitter.int64s({*count}), call.emitter.int64s({0})});
}

// By the letter a tuple has an index at least. ONNX Runtime gives all of the data for one that has
// none, as ScatterND does by the letter.
void Importer::note_empty_tuples(const RawCall& call, const NodeProto& node) const {
  if (!call.domain.empty() || call.op != "GatherND" || !call.has_input(1)) return;
  const Type indices = call.emitter.type(call.inputs[1]);
  if (!indices.has_rank() || indices.rank() == 0 || indices.shape->back() != Dim(0)) return;
  leniency_.tolerate(kEmptyTuple, label_of(node), ": input indices (", indices,
                     "): expected tuples of 1 index or more; each gives all of the data");
}

// The condition's place counts as an input though it is empty, as in Loop(n, ""): what a node
// leaves out at its end is cut off, and the row of Loop asks for both.
void fill_condition(RawCall& call, const NodeProto& node) {
  constexpr size_t kCondition = 1;
  const bool is_loop = call.domain.empty() && call.op == "Loop";
  if (!is_loop || node.input_size() <= static_cast<int>(kCondition)) return;
  if (call.inputs.size() <= kCondition)
    call.set_input(kCondition, call.emitter.constant(Tensor::scalar(true)));
}

// torch.stft is exported with a signal of rank 2, without the dim of real and imaginary parts.
void Importer::mend(RawCall& call, const NodeProto& node) const {
  fill_condition(call, node);
  mend_ranks(call, node);
  mend_axes(call, node);
  mend_flags(call, node);
  mend_slope(call, node);
  mend_group_scales(call, node);
  mend_statistics_axes(call, node);
  mend_condition(call, node, leniency_);
  note_empty_tuples(call, node);
  if (!call.domain.empty() || call.op != "STFT" || !call.has_input(0)) return;
  const Type type = call.emitter.type(call.inputs[0]);
  if (!type.has_rank() || type.rank() != 2) return;
  leniency_.tolerate(kSignalRank, label_of(node), ": input signal (", type,
                     "): expected rank 3; taken for real numbers");
  call.inputs[0] = call.emitter.call("Unsqueeze", {call.inputs[0], call.emitter.int64s({-1})});
}

}  // namespace sardonyx::onnx_import
