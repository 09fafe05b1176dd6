// NonMaxSuppression: of boxes that overlap much, the one with the highest score.
#include <algorithm>
#include <cmath>

#include "ir/evaluation.h"
#include "ir/ops/infer.h"
#include "ir/ops/tables.h"
#include "ir/run_control.h"
#include "ir/scratch.h"

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

bool overlaps_more(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  const float height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  if (!(width > 0 && height > 0)) return false;
  const float intersection = width * height;
  const float joint = a.area() + b.area() - intersection;
  if (!(a.area() > 0 && b.area() > 0 && joint > 0)) return false;
  return intersection / joint > threshold;
}

struct Limits {
  int64_t most_per_class = 0;
  float overlap = 0;
  std::optional<float> score;
};

Limits read_limits(const EvalCall& call) {
  const auto has_value = [&](size_t i) {
    return call.has(i) && call.inputs[i].tensor().count() > 0;
  };
  Limits limits;
  if (has_value(2)) limits.most_per_class = call.inputs[2].tensor().values<int64_t>()[0];
  if (has_value(3)) limits.overlap = call.inputs[3].tensor().values<float>()[0];
  if (has_value(4)) limits.score = call.inputs[4].tensor().values<float>()[0];
  if (!(limits.overlap >= 0 && limits.overlap <= 1)) {
    fail(ErrorCode::kInvalidArgument, "iou_threshold: expected 0 to 1, got ", limits.overlap);
  }
  return limits;
}

// The boxes of one class worth looking at, best first; equal scores by position.
void find_candidates(std::span<const float> scores, const Limits& limits,
                     std::pmr::vector<int64_t>& order) {
  order.clear();
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i]) || (limits.score && !(scores[i] > *limits.score))) continue;
    order.push_back(static_cast<int64_t>(i));
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const float score_a = scores[static_cast<size_t>(a)], score_b = scores[static_cast<size_t>(b)];
    return score_a != score_b ? score_a > score_b : a < b;
  });
}

void run_suppression(const EvalCall& call) {
  const Tensor& boxes = call.inputs[0].tensor();
  const Tensor& scores = call.inputs[1].tensor();
  const bool center_point = call.attrs<SuppressionAttrs>().center_point_box == 1;
  const Limits limits = read_limits(call);
  const int64_t batches = boxes.shape()[0], count = boxes.shape()[1], classes = scores.shape()[1];
  std::pmr::vector<int64_t> selected(scratch()), order(scratch());
  std::pmr::vector<Box> all(static_cast<size_t>(count), scratch()), kept(scratch());
  order.reserve(static_cast<size_t>(count));
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (int64_t i = 0; i < count; ++i) {
      const size_t at = static_cast<size_t>((batch * count + i) * 4);
      all[static_cast<size_t>(i)] = read_box(boxes.values<float>().data() + at, center_point);
    }
    for (int64_t cls = 0; cls < classes; ++cls) {
      kept.clear();
      const auto first = static_cast<size_t>((batch * classes + cls) * count);
      const auto of_class = scores.values<float>().subspan(first, static_cast<size_t>(count));
      find_candidates(of_class, limits, order);
      for (const int64_t index : order) {
        if (static_cast<int64_t>(kept.size()) >= limits.most_per_class) break;
        check_interrupted();
        const Box& box = all[static_cast<size_t>(index)];
        const bool suppressed = std::any_of(kept.begin(), kept.end(), [&](const Box& better) {
          return overlaps_more(box, better, limits.overlap);
        });
        if (suppressed) continue;
        kept.push_back(box);
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
