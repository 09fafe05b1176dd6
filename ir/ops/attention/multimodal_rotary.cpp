// com.microsoft::MRotaryEmbedding: tokens of text, images and videos have three positions (time,
// height, width), each of which rotates its own part of a head.
#include <numeric>

#include "ir/ops/attention/contrib_attention.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

enum MRopeLayout { kSectioned = 0, kInterleaved = 1 };

struct MultimodalRotaryAttrs {
  bool interleaved = false, is_packed_batching = false;
  int64_t mrope_layout = kSectioned;
  std::vector<int64_t> mrope_section;
  int64_t num_heads = 0, rotary_embedding_dim = 0;
  float scale = 1;
  static auto fields() {
    using A = MultimodalRotaryAttrs;
    return std::tuple{field("interleaved", &A::interleaved),
                      field("is_packed_batching", &A::is_packed_batching),
                      field("mrope_layout", &A::mrope_layout),
                      required("mrope_section", &A::mrope_section),
                      field("num_heads", &A::num_heads),
                      field("rotary_embedding_dim", &A::rotary_embedding_dim),
                      field("scale", &A::scale)};
  }
};

struct MultimodalRotaryInput {
  enum : size_t { kInput, kPositions, kCos, kSin };
};

// Which of the three positions rotates each column of the caches.
std::vector<int64_t> position_of_columns(const MultimodalRotaryAttrs& attrs) {
  const std::vector<int64_t>& sections = attrs.mrope_section;
  std::vector<int64_t> owners;
  if (attrs.mrope_layout == kSectioned) {
    for (size_t i = 0; i < sections.size(); ++i)
      owners.insert(owners.end(), static_cast<size_t>(sections[i]), static_cast<int64_t>(i));
    return owners;
  }
  owners.assign(static_cast<size_t>(std::reduce(sections.begin(), sections.end())), 0);
  for (size_t i = 1; i < sections.size(); ++i) {
    for (size_t column = i; column < std::min(owners.size(), 3 * static_cast<size_t>(sections[i]));
         column += 3)
      owners[column] = static_cast<int64_t>(i);
  }
  return owners;
}

void check_multimodal(Emitter& e, const BodyCall& c, const MultimodalRotaryAttrs& attrs) {
  constexpr int64_t kMost = 1 << 20;
  const std::vector<int64_t>& sections = attrs.mrope_section;
  if (sections.size() != 3 ||
      !std::ranges::all_of(sections, [](int64_t size) { return size >= 0 && size <= kMost; })) {
    fail(ErrorCode::kInvalidModel, "attribute mrope_section: expected three sizes of 0 or more");
  }
  if (attrs.mrope_layout != kSectioned && attrs.mrope_layout != kInterleaved) {
    fail(ErrorCode::kInvalidModel, "attribute mrope_layout: expected 0 (sections) or 1 ",
         "(interleaved), got ", attrs.mrope_layout);
  }
  const size_t rank = input_rank(e, c.inputs[MultimodalRotaryInput::kInput], "input");
  if ((rank != 3 && rank != 4) || (rank == 3 && attrs.num_heads < 1)) {
    fail(ErrorCode::kInvalidModel, "input input: expected [batch, heads, length, size], or ",
         "[batch, length, hidden] with the attribute num_heads, got ",
         e.type(c.inputs[MultimodalRotaryInput::kInput]));
  }
  const Dims places = dims_of(e, c.inputs[MultimodalRotaryInput::kPositions], "position_ids");
  if (places.size() != 3 || (places[0].is_known() && places[0].value() != 3)) {
    fail(ErrorCode::kInvalidModel, "input position_ids: expected [3, batch, length], got ",
         e.type(c.inputs[MultimodalRotaryInput::kPositions]));
  }
  const int64_t columns = std::reduce(sections.begin(), sections.end());
  for (const auto& [input, name] : {std::pair{MultimodalRotaryInput::kCos, "cos_cache"},
                                    {MultimodalRotaryInput::kSin, "sin_cache"}}) {
    const Dims cache = dims_of(e, c.inputs[input], name);
    if (cache.size() != 2 || (cache[1].is_known() && cache[1].value() != columns)) {
      fail(ErrorCode::kInvalidModel, "input ", name, ": expected [positions, ", columns,
           "], the sum of mrope_section, got ", e.type(c.inputs[input]));
    }
  }
}

// [batch, length, columns] out of a cache [positions, columns]: each column at the position that
// rotates it.
Val mixed_angles(Emitter& e, const Val& cache, const Val& places,
                 const MultimodalRotaryAttrs& attrs) {
  const std::vector<int64_t> owners = position_of_columns(attrs);
  const Vals all{e.call("Gather", {cache, places})};
  Vals streams = e.call_many("Split", all, {{"num_outputs", int64_t{3}}}, 3);
  Val mixed;
  for (size_t i = 0; i < streams.size(); ++i) {
    const Val stream = e.call("Squeeze", {streams[i], e.int64s({0})});
    const Val owned = e.call("Equal", {e.int64s(owners), e.scalar(DType::kInt64, double(i))});
    mixed = mixed ? e.call("Where", {owned, stream, mixed}) : stream;
  }
  return attrs.scale == 1 ? mixed : e.call("Mul", {mixed, e.scalar_like(mixed, attrs.scale)});
}

Vals multimodal_rotary(Emitter& e, const BodyCall& c) {
  using In = MultimodalRotaryInput;
  const auto& attrs = c.attrs<MultimodalRotaryAttrs>();
  // Packed batches are one long row, whose positions are given: nothing else differs for them.
  check_multimodal(e, c, attrs);
  AttrMap onnx{{"interleaved", int64_t{attrs.interleaved}},
               {"rotary_embedding_dim", attrs.rotary_embedding_dim}};
  if (input_rank(e, c.inputs[In::kInput], "input") == 3) onnx["num_heads"] = attrs.num_heads;
  return {e.call(
      "RotaryEmbedding",
      {c.inputs[In::kInput], mixed_angles(e, c.inputs[In::kCos], c.inputs[In::kPositions], attrs),
       mixed_angles(e, c.inputs[In::kSin], c.inputs[In::kPositions], attrs)},
      onnx)};
}

std::vector<Sample> multimodal_rotary_samples() {
  const SampleInput places =
      given<int64_t>({0, 1, 2, 3, 4, 5, 0, 0, 1, 1, 2, 2, 5, 4, 3, 2, 1, 0}, {3, 2, 3});
  const SampleInput cache{.shape = {6, 4}};
  const std::vector<int64_t> sections{1, 2, 1};
  return {{.inputs = {{.shape = {2, 3, 16}}, places, cache, cache},
           .attrs = {{"num_heads", int64_t{2}}, {"mrope_section", sections}}},
          {.inputs = {{.shape = {2, 2, 3, 10}}, places, cache, cache},
           .attrs = {{"mrope_section", sections},
                     {"mrope_layout", int64_t{1}},
                     {"interleaved", int64_t{1}},
                     {"rotary_embedding_dim", int64_t{8}},
                     {"num_heads", int64_t{2}},
                     {"scale", 0.5f}}}};
}

}  // namespace

const OpDef& multimodal_rotary_row() {
  static const OpDef row{
      .name = "MRotaryEmbedding",
      .doc =
          "The input with pairs of its last axis rotated by the angles of its positions in "
          "time, height and width, each of which has its own part of the pairs.",
      .domain = kMicrosoft,
      .signature = "(input: T, position_ids: M, cos_cache: T, sin_cache: T) -> (output: T)",
      .types = {{"T", DTypeSet{DType::kFloat, DType::kFloat16, DType::kBFloat16}},
                {"M", DType::kInt64}},
      .attrs = attr_schema<MultimodalRotaryAttrs>(),
      .infer = infer_by_body,
      .body = multimodal_rotary,
      .samples = multimodal_rotary_samples};
  return row;
}

}  // namespace sardonyx::ops
