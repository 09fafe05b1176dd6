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

// torch.stft is exported with a signal of rank 2, without the dim of real and imaginary parts.
void Importer::mend(RawCall& call, const NodeProto& node) const {
  mend_ranks(call, node);
  mend_axes(call, node);
  if (!call.domain.empty() || call.op != "STFT" || !call.has_input(0)) return;
  const Type type = call.emitter.type(call.inputs[0]);
  if (!type.has_rank() || type.rank() != 2) return;
  leniency_.tolerate(kSignalRank, label_of(node), ": input signal (", type,
                     "): expected rank 3; taken for real numbers");
  call.inputs[0] = call.emitter.call("Unsqueeze", {call.inputs[0], call.emitter.int64s({-1})});
}

}  // namespace sardonyx::onnx_import
