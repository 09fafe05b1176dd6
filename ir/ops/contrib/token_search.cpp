// com.microsoft: hashes of tokens, and searches in sequences of them.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/eval_call.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

using Tokens = std::span<const int64_t>;

// --- MurmurHash3 ---

struct MurmurHash3Attrs {
  bool positive = true;
  int64_t seed = 0;
  static auto fields() {
    return std::tuple{field("positive", &MurmurHash3Attrs::positive),
                      field("seed", &MurmurHash3Attrs::seed)};
  }
};

// MurmurHash3_x86_32 of Austin Appleby's SMHasher (public domain); words are read as the machine
// stores them.
uint32_t murmur_hash3(std::string_view bytes, uint32_t seed) {
  const auto scrambled = [](uint32_t word) {
    return std::rotl(word * 0xcc9e2d51u, 15) * 0x1b873593u;
  };
  uint32_t hash = seed;
  size_t at = 0;
  for (uint32_t word; at + sizeof(word) <= bytes.size(); at += sizeof(word)) {
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    hash = std::rotl(hash ^ scrambled(word), 13) * 5 + 0xe6546b64u;
  }
  uint32_t rest = 0;
  for (size_t i = bytes.size(); i > at; --i)
    rest = rest << 8 | static_cast<uint8_t>(bytes[i - 1]);
  hash ^= scrambled(rest) ^ static_cast<uint32_t>(bytes.size());
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

void infer_murmur_hash3(InferContext& c) {
  const DType dtype = c.attrs<MurmurHash3Attrs>().positive ? DType::kUInt32 : DType::kInt32;
  const Dims* shape = c.shape(0);
  c.set(0, dtype, shape ? std::optional(*shape) : std::nullopt);
}

// Both integer types of the output have the same bits.
void murmur_hash3(const KernelCall& call) {
  const TensorView& x = call.inputs[0];
  const auto seed = static_cast<uint32_t>(call.attrs<MurmurHash3Attrs>().seed);
  auto* out = static_cast<uint32_t*>(call.outputs[0].raw);
  const auto count = static_cast<size_t>(x.count());
  if (x.dtype == DType::kString) {
    for (size_t i = 0; i < count; ++i)
      out[i] = murmur_hash3(x.data<std::string>()[i], seed);
    return;
  }
  const size_t size = bytes_for(x.dtype, 1);
  const auto* bytes = static_cast<const char*>(x.raw);
  for (size_t i = 0; i < count; ++i)
    out[i] = murmur_hash3({bytes + i * size, size}, seed);
}

// --- NGramRepeatBlock ---

struct NGramAttrs {
  int64_t ngram_size = 0;
  static auto fields() { return std::tuple{required("ngram_size", &NGramAttrs::ngram_size)}; }
};

// input_ids [batch, length], scores [batch, vocabulary]
void infer_ngram_repeat_block(InferContext& c) {
  const int64_t size = c.attrs<NGramAttrs>().ngram_size;
  c.require(size > 0, "attribute ngram_size: expected at least 1, got ", size);
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  Dims out{c.unknown(), c.unknown()};
  if (const Dims* scores = c.shape(1)) out = *scores;
  if (const Dims* ids = c.shape(0)) out[0] = c.merged(out[0], (*ids)[0], "input_ids and scores");
  c.set(0, DType::kFloat, std::move(out));
}

// Bans each token that would end an n-gram that is in `ids` already, by a score of -infinity.
void ban_repeats(Tokens ids, size_t ngram, std::span<float> scores) {
  if (ids.size() + 1 < ngram) return;
  const Tokens tail = ids.last(ngram - 1);
  for (size_t i = 0; i + ngram <= ids.size(); ++i) {
    if (!std::ranges::equal(ids.subspan(i, ngram - 1), tail)) continue;
    const int64_t token = ids[i + ngram - 1];
    if (token < 0 || token >= static_cast<int64_t>(scores.size())) {
      fail(ErrorCode::kInvalidArgument, "NGramRepeatBlock: input input_ids: token ", token,
           " is not in [0, ", scores.size(), "), the columns of scores");
    }
    scores[static_cast<size_t>(token)] = -std::numeric_limits<float>::infinity();
  }
}

void ngram_repeat_block(const KernelCall& call) {
  const auto length = static_cast<size_t>(call.inputs[0].shape[1]);
  const auto words = static_cast<size_t>(call.inputs[1].shape[1]);
  const auto* ids = call.inputs[0].data<int64_t>();
  float* out = call.outputs[0].data<float>();
  std::copy_n(call.inputs[1].data<float>(), call.inputs[1].count(), out);
  for (int64_t row = 0; row < call.inputs[0].shape[0]; ++row) {
    check_interrupted();
    ban_repeats({ids + row * static_cast<int64_t>(length), length},
                static_cast<size_t>(call.attrs<NGramAttrs>().ngram_size),
                {out + row * static_cast<int64_t>(words), words});
  }
}

// A ban has no slope.
Vals ngram_repeat_block_gradient(Emitter& e, const GradCall& c) {
  const Term is_kept = equal(output(e, c, 0), input(e, c, 1));
  return {Val(), where(is_kept, d_output(e, c, 0), 0)};
}

// --- BifurcationDetector ---

struct BifurcationAttrs {
  int64_t min_ngram_size = 0, max_ngram_size = 0;
  static auto fields() {
    using A = BifurcationAttrs;
    return std::tuple{required("min_ngram_size", &A::min_ngram_size),
                      required("max_ngram_size", &A::max_ngram_size)};
  }
};

// src_tokens [s], cur_tokens [t], prev_suffix_match_idx (one element), pred_tokens? [p]
void infer_bifurcation(InferContext& c) {
  const auto& attrs = c.attrs<BifurcationAttrs>();
  c.require(attrs.min_ngram_size > 0, "attribute min_ngram_size: expected at least 1, got ",
            attrs.min_ngram_size);
  c.require(attrs.max_ngram_size >= attrs.min_ngram_size,
            "attribute max_ngram_size: expected at least min_ngram_size, ", attrs.min_ngram_size,
            ", got ", attrs.max_ngram_size);
  c.require_rank(0, 1);
  c.require_rank(1, 1);
  if (c.has(3)) c.require_rank(3, 1);
  c.set(0, DType::kInt64,
        c.has(3) ? Dims{c.unknown()} : Dims{c.shape(1) ? (*c.shape(1))[0] : c.unknown()});
  const Dims* index = c.shape(2);
  c.set(1, DType::kInt64, index ? std::optional(*index) : std::nullopt);
}

// How many of the predicted tokens are to be taken: those that agree with the source from `begin`
// on, and the first that does not.
size_t tokens_to_take(Tokens source, Tokens predicted, int64_t begin) {
  if (begin < 0 || begin > static_cast<int64_t>(source.size())) {
    fail(ErrorCode::kInvalidArgument, "BifurcationDetector: input prev_suffix_match_idx: expected ",
         "0 to ", source.size(), ", the number of src_tokens, got ", begin);
  }
  const Tokens rest = source.subspan(static_cast<size_t>(begin));
  if (predicted.size() != rest.size() + 1) {
    fail(ErrorCode::kInvalidArgument, "BifurcationDetector: input pred_tokens: expected ",
         rest.size() + 1, " tokens, one more than src_tokens from prev_suffix_match_idx on, got ",
         predicted.size());
  }
  const auto differ = std::ranges::mismatch(predicted, rest).in1;
  return static_cast<size_t>(differ - predicted.begin()) + 1;
}

// The place in `source` behind the one occurrence there of the last n tokens, for the largest n up
// to the first that does not occur; -1 where that occurs more than once, or none does.
int64_t suffix_match(Tokens source, Tokens tokens, const BifurcationAttrs& attrs) {
  int64_t match = -1;
  for (int64_t n = attrs.min_ngram_size; n <= attrs.max_ngram_size; ++n) {
    check_interrupted();
    if (n > static_cast<int64_t>(tokens.size())) break;
    const Tokens suffix = tokens.last(static_cast<size_t>(n));
    const auto first = std::ranges::search(source, suffix);
    if (first.empty()) break;
    match = first.end() - source.begin();
    if (match >= static_cast<int64_t>(source.size())) break;
    const Tokens later(first.begin() + 1, source.end());
    if (!std::ranges::search(later, suffix).empty()) match = -1;
  }
  return match;
}

void bifurcation_detector(const EvalCall& call) {
  const Tokens source = call.inputs[0].tensor().values<int64_t>();
  const Tokens current = call.inputs[1].tensor().values<int64_t>();
  const Tensor& previous = call.inputs[2].tensor();
  if (previous.count() != 1) {
    fail(ErrorCode::kInvalidArgument, "BifurcationDetector: input prev_suffix_match_idx: expected ",
         "one element, got ", to_text(previous.shape()));
  }
  Tokens taken;
  if (call.has(3)) {
    const Tokens predicted = call.inputs[3].tensor().values<int64_t>();
    taken = predicted.first(tokens_to_take(source, predicted, previous.values<int64_t>()[0]));
  }
  const DimValues length{static_cast<int64_t>(current.size() + taken.size())};
  const std::span<int64_t> tokens = call.tensor(0, DType::kInt64, length).mutable_values<int64_t>();
  std::ranges::copy(taken, std::ranges::copy(current, tokens.begin()).out);
  call.tensor(1, DType::kInt64, previous.shape()).mutable_values<int64_t>()[0] =
      suffix_match(source, tokens, call.attrs<BifurcationAttrs>());
}

// --- DynamicTimeWarping ---

// costs [M, N] or [1, M, N]
void infer_time_warping(InferContext& c) {
  if (const Dims* shape = c.shape(0)) {
    if (shape->size() != 2 && shape->size() != 3) c.fail_input(0, "expected [M, N] or [1, M, N]");
    if (shape->size() == 3) c.merged(shape->front(), 1, "the first of three dims");
  }
  c.set(0, DType::kInt32, Dims{2, c.unknown()});
}

enum class Step : uint8_t { kBoth, kRow, kColumn };

// By which step the cheapest path reaches each element of `costs` [rows, columns], column-major.
std::pmr::vector<Step> cheapest_steps(const float* costs, size_t rows, size_t columns) {
  constexpr float kFar = std::numeric_limits<float>::infinity();
  std::pmr::vector<Step> steps(rows * columns, Step::kColumn, scratch());
  std::pmr::vector<float> before(rows + 1, kFar, scratch()), sums(rows + 1, kFar, scratch());
  before[0] = 0;
  for (size_t column = 0; column < columns; ++column) {
    check_interrupted();
    for (size_t row = 0; row < rows; ++row) {
      const float both = before[row], one_row = sums[row], one_column = before[row + 1];
      Step step = Step::kColumn;
      if (both < one_row && both < one_column)
        step = Step::kBoth;
      else if (one_row < both && one_row < one_column)
        step = Step::kRow;
      steps[column * rows + row] = step;
      const float least = step == Step::kBoth ? both : step == Step::kRow ? one_row : one_column;
      sums[row + 1] = least + costs[row * columns + column];
    }
    std::swap(before, sums);
    sums[0] = kFar;
  }
  return steps;
}

// Sakoe and Chiba, "Dynamic programming algorithm optimization for spoken word recognition", 1978,
// without weights or a window: the path [2, length] of least cost from [0, 0] to the last element.
void time_warping(const EvalCall& call) {
  const Tensor& costs = call.inputs[0].tensor();
  const size_t rank = costs.rank();
  const auto rows = static_cast<size_t>(costs.shape()[rank - 2]);
  const auto columns = static_cast<size_t>(costs.shape()[rank - 1]);
  const ScratchMark mark;
  const auto steps = cheapest_steps(costs.values<float>().data(), rows, columns);
  std::pmr::vector<std::pair<int32_t, int32_t>> path(scratch());
  for (size_t row = rows, column = columns; row > 0 && column > 0;) {
    path.emplace_back(row - 1, column - 1);
    const Step step = steps[(column - 1) * rows + row - 1];
    if (step != Step::kColumn) --row;
    if (step != Step::kRow) --column;
  }
  const size_t length = path.size();
  const DimValues shape{2, static_cast<int64_t>(length)};
  const std::span<int32_t> out = call.tensor(0, DType::kInt32, shape).mutable_values<int32_t>();
  for (size_t i = 0; i < length; ++i) {
    out[i] = path[length - 1 - i].first;
    out[length + i] = path[length - 1 - i].second;
  }
}

// --- samples ---

std::vector<Sample> murmur_samples() {
  return {{.inputs = {{.shape = {2, 3}}}, .attrs = {{"seed", int64_t{42}}}},
          {.inputs = {{.shape = {3}}}, .attrs = {{"positive", int64_t{0}}}}};
}
std::vector<Sample> ngram_samples() {
  return {{.inputs = {given(std::vector<int64_t>{0, 1, 2, 0, 1, 3, 3, 3, 3, 3}, {2, 5}),
                      {.shape = {2, 4}, .dtype = DType::kFloat}},
           .attrs = {{"ngram_size", int64_t{3}}}},
          {.inputs = {given(std::vector<int64_t>{0, 1, 2, 3}, {1, 4}),
                      {.shape = {1, 5}, .dtype = DType::kFloat}},
           .attrs = {{"ngram_size", int64_t{2}}}}};
}
std::vector<Sample> bifurcation_samples() {
  return {{.inputs = {given({1, 5, 3, 4, 2}), given({2}), given({0}), given({1, 5, 3, 7, 1, 1})},
           .attrs = {{"min_ngram_size", int64_t{1}}, {"max_ngram_size", int64_t{3}}},
           .outputs = 2},
          {.inputs = {given({1, 5, 3, 4, 2}), given({5, 3}), given({0})},
           .attrs = {{"min_ngram_size", int64_t{1}}, {"max_ngram_size", int64_t{2}}},
           .outputs = 2}};
}
std::vector<Sample> time_warping_samples() {
  return {{.inputs = {{.shape = {3, 5}}}}, {.inputs = {{.shape = {1, 4, 2}}}}};
}

constexpr DTypeSet kHashed{DType::kInt32, DType::kUInt32, DType::kInt64, DType::kUInt64,
                           DType::kFloat, DType::kDouble, DType::kString};

const OpDef kContribTokenOps[] = {
    {.name = "MurmurHash3",
     .doc = "The 32-bit MurmurHash3 of each element's bytes, as uint32 where `positive` is set and "
            "as int32 otherwise.",
     .domain = kMicrosoft,
     .signature = "(X: T1) -> (Y: T2)",
     .types = {{"T1", kHashed}, {"T2", DTypeSet{DType::kUInt32, DType::kInt32}}},
     .attrs = attr_schema<MurmurHash3Attrs>(),
     .infer = infer_murmur_hash3,
     .reference = murmur_hash3,
     .samples = murmur_samples},
    {.name = "NGramRepeatBlock",
     .doc = "scores [batch, vocabulary], -infinity for each token that would repeat an n-gram of "
            "input_ids [batch, length].",
     .domain = kMicrosoft,
     .signature = "(input_ids: Tid, scores: T) -> (scores_out: T)",
     .types = {{"Tid", DType::kInt64}, {"T", DType::kFloat}},
     .attrs = attr_schema<NGramAttrs>(),
     .infer = infer_ngram_repeat_block,
     .reference = ngram_repeat_block,
     .grad = ngram_repeat_block_gradient,
     .samples = ngram_samples},
    {.name = "BifurcationDetector",
     .doc = "Current tokens and the predicted ones up to the first that the source has not, and "
            "where in the source their last n-gram ends.",
     .domain = kMicrosoft,
     .signature = "(src_tokens: T, cur_tokens: T, prev_suffix_match_idx: T, pred_tokens?: T) -> "
                  "(tokens: T, suffix_match_idx: T)",
     .types = {{"T", DType::kInt64}},
     .attrs = attr_schema<BifurcationAttrs>(),
     .infer = infer_bifurcation,
     .evaluate = bifurcation_detector,
     .samples = bifurcation_samples},
    {.name = "DynamicTimeWarping",
     .doc = "The path [2, length] of rows and columns through costs [M, N] whose sum is least.",
     .domain = kMicrosoft,
     .signature = "(input: F) -> (output: I)",
     .types = {{"F", DType::kFloat}, {"I", DType::kInt32}},
     .infer = infer_time_warping,
     .evaluate = time_warping,
     .samples = time_warping_samples},
};

}  // namespace

std::span<const OpDef> contrib_token_ops() {
  return kContribTokenOps;
}

}  // namespace sardonyx::ops
