// NonMaxSuppression: of boxes that overlap much, the one with the highest score.
#include <algorithm>
#include <bit>
#include <limits>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/eval_call.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

struct SuppressionAttrs {
  int64_t center_point_box = 0;  // 1: boxes are [x_center, y_center, width, height]
  static auto fields() {
    return std::tuple{field("center_point_box", &SuppressionAttrs::center_point_box)};
  }
};

void infer_suppression(InferContext& c) {
  c.require_rank(0, 3);
  c.require_rank(1, 3);
  for (size_t i = 2; i < c.input_count(); ++i) {
    if (c.has(i)) require_single(c, i);
  }
  const int64_t form = c.attrs<SuppressionAttrs>().center_point_box;
  c.require(form == 0 || form == 1, "center_point_box: expected 0 or 1, got ", form);
  const Dims* boxes = c.shape(0);
  const Dims* scores = c.shape(1);
  if (boxes) c.merged((*boxes)[2], 4, "the last dim of boxes");
  if (boxes && scores) {
    c.merged((*boxes)[0], (*scores)[0], "batches of boxes and scores");
    c.merged((*boxes)[1], (*scores)[2], "boxes and scores");
  }
  c.set(0, DType::kInt64, Dims{c.unknown(), 3});
}

struct Box {
  float low_x, low_y, high_x, high_y;
  float area() const { return (high_x - low_x) * (high_y - low_y); }
};

Box read_box(const float* data, bool center_point) {
  if (center_point) {
    const float half_width = data[2] / 2, half_height = data[3] / 2;
    return {data[0] - half_width, data[1] - half_height, data[0] + half_width,
            data[1] + half_height};
  }
  // Any two opposite corners, y first.
  return {std::min(data[1], data[3]), std::min(data[0], data[2]), std::max(data[1], data[3]),
          std::max(data[0], data[2])};
}

// Boxes that were kept, by coordinates: a new one is compared with several at a time. Empty ones,
// which overlap nothing, fill the last block.
class KeptBoxes {
 public:
  size_t count() const { return count_; }
  void clear() {
    count_ = 0;
    blocks_.clear();
  }
  void add(const Box& box) {
    if (count_ % kBlock == 0) blocks_.emplace_back();
    BoxBlock& block = blocks_.back();
    const size_t at = count_++ % kBlock;
    block.low_x[at] = box.low_x;
    block.low_y[at] = box.low_y;
    block.high_x[at] = box.high_x;
    block.high_y[at] = box.high_y;
    block.area[at] = box.area();
  }
  // Whether there is a box whose intersection with `box` is a larger part of the union of both.
  bool any_overlaps(const Box& box, float threshold) const {
    if (!(box.area() > 0)) return false;
    return std::ranges::any_of(blocks_, [&](const BoxBlock& block) {
      return overlaps(box, box.area(), block, threshold);
    });
  }

 private:
  static constexpr size_t kBlock = 16;
  struct BoxBlock {
    float low_x[kBlock] = {}, low_y[kBlock] = {}, high_x[kBlock] = {}, high_y[kBlock] = {};
    float area[kBlock] = {};
  };

  // Without branches, so that the compiler makes vectors of it.
  static bool overlaps(const Box& box, float area, const BoxBlock& block, float threshold) {
    int found = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      const float width =
          std::min(box.high_x, block.high_x[i]) - std::max(box.low_x, block.low_x[i]);
      const float height =
          std::min(box.high_y, block.high_y[i]) - std::max(box.low_y, block.low_y[i]);
      const float intersection = width * height, joint = area + block.area[i] - intersection;
      const bool are_boxes = (width > 0) & (height > 0) & (block.area[i] > 0) & (joint > 0);
      found |= are_boxes & (intersection / joint > threshold);
    }
    return found != 0;
  }

  size_t count_ = 0;
  std::pmr::vector<BoxBlock> blocks_{scratch()};
};

struct NmsLimits {
  int64_t max_per_class = 0;
  float overlap = 0;
  std::optional<float> score;
};

NmsLimits read_limits(const EvalCall& call) {
  const auto has_value = [&](size_t i) {
    return call.has(i) && call.inputs[i].tensor().count() > 0;
  };
  NmsLimits limits;
  if (has_value(2)) limits.max_per_class = call.inputs[2].tensor().values<int64_t>()[0];
  if (has_value(3)) limits.overlap = call.inputs[3].tensor().values<float>()[0];
  if (has_value(4)) limits.score = call.inputs[4].tensor().values<float>()[0];
  if (!(limits.overlap >= 0 && limits.overlap <= 1)) {
    fail(ErrorCode::kInvalidArgument, "iou_threshold: expected 0 to 1, got ", limits.overlap);
  }
  return limits;
}

// The boxes of one class worth looking at, best first; equal scores by position. They are sorted as
// far as they are asked for.
class Candidates {
 public:
  explicit Candidates(int64_t count) : keys_(static_cast<size_t>(count), scratch()) {}

  void find(std::span<const float> scores, const NmsLimits& limits) {
    constexpr float kLowest = -std::numeric_limits<float>::infinity();
    const float least = limits.score.value_or(kLowest);
    const bool takes_least = !limits.score;
    count_ = sorted_ = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      keys_[count_] = key_of(scores[i], i);  // overwritten where the score is too low, or NaN
      count_ += (scores[i] > least) | (takes_least & (scores[i] == least));
    }
  }
  size_t count() const { return count_; }
  // The position of the `rank`-th; asked for in order.
  int64_t at(size_t rank) {
    if (rank == sorted_) sort_more();
    return static_cast<int64_t>(keys_[rank] & kPositions);
  }

 private:
  static constexpr uint64_t kPositions = (uint64_t{1} << 32) - 1;

  // In the order of keys scores fall and positions rise.
  static uint64_t key_of(float score, size_t position) {
    const auto bits = std::bit_cast<uint32_t>(score + 0.0f);  // the zeros are equal
    const uint32_t rising = bits >> 31 ? ~bits : bits | 0x80000000u;
    return uint64_t{~rising} << 32 | position;
  }
  void sort_more() {
    const size_t end = std::min(count_, std::max<size_t>(4 * sorted_, 128));
    const auto begin = keys_.begin() + static_cast<ptrdiff_t>(sorted_);
    const auto middle = keys_.begin() + static_cast<ptrdiff_t>(end);
    const auto last = keys_.begin() + static_cast<ptrdiff_t>(count_);
    if (end < count_) std::nth_element(begin, middle, last);
    std::sort(begin, middle);
    sorted_ = end;
  }

  std::pmr::vector<uint64_t> keys_;
  size_t count_ = 0, sorted_ = 0;
};

void run_suppression(const EvalCall& call) {
  const Tensor& boxes = call.inputs[0].tensor();
  const Tensor& scores = call.inputs[1].tensor();
  const bool center_point = call.attrs<SuppressionAttrs>().center_point_box == 1;
  const NmsLimits limits = read_limits(call);
  const int64_t batches = boxes.shape()[0], classes = scores.shape()[1];
  const int64_t count = batches > 0 ? boxes.shape()[1] : 0;  // there is memory for so many
  if (count > std::numeric_limits<uint32_t>::max())
    fail(ErrorCode::kUnsupported, "NonMaxSuppression: ", count, " boxes; positions have 32 bits");
  std::pmr::vector<int64_t> selected(scratch());
  std::pmr::vector<Box> all(static_cast<size_t>(count), scratch());
  KeptBoxes kept;
  Candidates candidates(count);
  const auto most = static_cast<size_t>(std::max<int64_t>(limits.max_per_class, 0));
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (int64_t i = 0; i < count; ++i) {
      const size_t at = static_cast<size_t>((batch * count + i) * 4);
      all[static_cast<size_t>(i)] = read_box(boxes.values<float>().data() + at, center_point);
    }
    for (int64_t cls = 0; cls < classes; ++cls) {
      kept.clear();
      const auto first = static_cast<size_t>((batch * classes + cls) * count);
      candidates.find(scores.values<float>().subspan(first, static_cast<size_t>(count)), limits);
      for (size_t rank = 0; rank < candidates.count() && kept.count() < most; ++rank) {
        check_interrupted();
        const int64_t index = candidates.at(rank);
        const Box& box = all[static_cast<size_t>(index)];
        if (kept.any_overlaps(box, limits.overlap)) continue;
        kept.add(box);
        selected.insert(selected.end(), {batch, cls, index});
      }
    }
  }
  const int64_t shape[] = {static_cast<int64_t>(selected.size() / 3), 3};
  std::ranges::copy(selected, static_cast<int64_t*>(call.tensor(0, DType::kInt64, shape).raw()));
}

std::vector<Sample> suppression_samples() {
  const Tensor most = Tensor::vector(std::vector<int64_t>{3});
  const Tensor overlap = Tensor::vector(std::vector<float>{0.5f});
  return {{{{.shape = {1, 6, 4}}, {.shape = {1, 2, 6}}, {.value = most}, {.value = overlap}}},
          {{{.shape = {2, 6, 4}, .low = 0.5, .high = 1}, {.shape = {2, 1, 6}}, {.value = most}},
           {{"center_point_box", int64_t{1}}}}};
}

const OpDef kSuppressionOps[] = {
    {.name = "NonMaxSuppression",
     .doc = "The boxes [batch, count, 4] that are kept, best scores [batch, classes, count] first, "
            "where they overlap others by no more than the threshold: [kept, 3] of batch, class "
            "and box.",
     .since = 11,
     .signature = "(boxes: float, scores: float, max_output_boxes_per_class?: int64, "
                  "iou_threshold?: float, score_threshold?: float) -> (selected_indices: int64)",
     .attrs = attr_schema<SuppressionAttrs>(),
     .infer = infer_suppression,
     .evaluate = run_suppression,
     .samples = suppression_samples},
};

}  // namespace

std::span<const OpDef> suppression_ops() {
  return kSuppressionOps;
}

}  // namespace sardonyx::ops
