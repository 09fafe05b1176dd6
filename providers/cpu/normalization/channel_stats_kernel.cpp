#include "providers/cpu/normalization/channel_stats_kernel.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/normalization/channel_stats_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kLanes>;
using V = hn::Vec<D>;
constexpr size_t kVectors = kLanes / hn::MaxLanes(D());  // that make up all lanes

// Groups of lanes that are summed apart, so that additions need not wait for each other.
constexpr size_t kGroups = kVectors == 1 ? 4 : kVectors == 2 ? 2 : 1;
// Elements that are summed in single precision.
constexpr int64_t kPiece = 512;

// Up to kMax sums of one pass.
template <size_t kMax>
struct Partial {
  V sums[kMax][kGroups][kVectors];

  HWY_INLINE Partial() {
    for (auto& sum : sums) {
      for (auto& group : sum) {
        for (V& v : group)
          v = hn::Zero(D());
      }
    }
  }
  HWY_INLINE void add(size_t sum, size_t group, size_t vector, V x) {
    sums[sum][group][vector] = hn::Add(sums[sum][group][vector], x);
  }
  HWY_INLINE void flush(size_t sum, LaneSums& into) const {
    const D d;
    HWY_ALIGN float lanes[kLanes];
    for (size_t vector = 0; vector < kVectors; ++vector) {
      V total = sums[sum][0][vector];
      for (size_t group = 1; group < kGroups; ++group)
        total = hn::Add(total, sums[sum][group][vector]);
      hn::Store(total, d, lanes + vector * hn::Lanes(d));
    }
    for (size_t lane = 0; lane < kLanes; ++lane)
      into[lane] += double{lanes[lane]};
  }
};

// visit(element, group, vector) over whole vectors of full lanes; returns the elements visited.
template <typename Visit>
HWY_INLINE int64_t over_lanes(int64_t begin, int64_t end, const Visit& visit) {
  const int64_t lanes = hn::Lanes(D());
  constexpr int64_t kStride = kLanes * kGroups;
  int64_t i = begin;
  for (; i + kStride <= end; i += kStride) {
    for (size_t group = 0; group < kGroups; ++group) {
      for (size_t vector = 0; vector < kVectors; ++vector)
        visit(i + static_cast<int64_t>(group) * kLanes + static_cast<int64_t>(vector) * lanes,
              group, vector);
    }
  }
  for (; i + kLanes <= end; i += kLanes) {
    for (size_t vector = 0; vector < kVectors; ++vector)
      visit(i + static_cast<int64_t>(vector) * lanes, 0, vector);
  }
  return i;
}

HWY_INLINE V lanes_of(const Lanes& lanes, size_t vector) {
  return hn::LoadU(D(), lanes.data() + vector * hn::Lanes(D()));
}

void AddElements(const float* x, int64_t count, LaneSums& sums) {
  const D d;
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t end = std::min(count, begin + kPiece);
    Partial<1> partial;
    int64_t i = over_lanes(begin, end, [&](int64_t at, size_t group, size_t vector) HWY_ATTR {
      partial.add(0, group, vector, hn::LoadU(d, x + at));
    });
    partial.flush(0, sums);
    for (; i < end; ++i)
      sums[static_cast<size_t>(i % kLanes)] += double{x[i]};
  }
}

void AddSquares(const float* x, int64_t count, const Lanes& mean, LaneSums& squares) {
  const D d;
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t end = std::min(count, begin + kPiece);
    Partial<1> partial;
    int64_t i = over_lanes(begin, end, [&](int64_t at, size_t group, size_t vector) HWY_ATTR {
      const V distance = hn::Sub(hn::LoadU(d, x + at), lanes_of(mean, vector));
      partial.add(0, group, vector, hn::Mul(distance, distance));
    });
    partial.flush(0, squares);
    for (; i < end; ++i) {
      const auto lane = static_cast<size_t>(i % kLanes);
      const double distance = double{x[i]} - double{mean[lane]};
      squares[lane] += distance * distance;
    }
  }
}

void AddProducts(const float* d_y, const float* x, int64_t count, const Lanes& mean,
                 LaneSums& squares, LaneSums& gradients, LaneSums& products) {
  const D d;
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t end = std::min(count, begin + kPiece);
    Partial<3> partial;
    int64_t i = over_lanes(begin, end, [&](int64_t at, size_t group, size_t vector) HWY_ATTR {
      const V distance = hn::Sub(hn::LoadU(d, x + at), lanes_of(mean, vector));
      const V gradient = hn::LoadU(d, d_y + at);
      partial.add(0, group, vector, hn::Mul(distance, distance));
      partial.add(1, group, vector, gradient);
      partial.add(2, group, vector, hn::Mul(gradient, distance));
    });
    partial.flush(0, squares);
    partial.flush(1, gradients);
    partial.flush(2, products);
    for (; i < end; ++i) {
      const auto lane = static_cast<size_t>(i % kLanes);
      const double distance = double{x[i]} - double{mean[lane]};
      squares[lane] += distance * distance;
      gradients[lane] += double{d_y[i]};
      products[lane] += double{d_y[i]} * distance;
    }
  }
}

void MapAffine(const float* x, int64_t count, const Lanes& mean, const Lanes& slope,
               const Lanes& shift, float* out) {
  const D d;
  int64_t i = over_lanes(0, count, [&](int64_t at, size_t, size_t vector) HWY_ATTR {
    const V distance = hn::Sub(hn::LoadU(d, x + at), lanes_of(mean, vector));
    hn::StoreU(hn::MulAdd(distance, lanes_of(slope, vector), lanes_of(shift, vector)), d, out + at);
  });
  for (; i < count; ++i) {
    const auto lane = static_cast<size_t>(i % kLanes);
    out[i] = (x[i] - mean[lane]) * slope[lane] + shift[lane];
  }
}

void MapGradient(const float* d_y, const float* x, int64_t count, const Lanes& mean,
                 const Lanes& slope, const Lanes& shift, const Lanes& pull, float* out) {
  const D d;
  int64_t i = over_lanes(0, count, [&](int64_t at, size_t, size_t vector) HWY_ATTR {
    const V distance = hn::Sub(hn::LoadU(d, x + at), lanes_of(mean, vector));
    const V rest = hn::Sub(hn::LoadU(d, d_y + at), lanes_of(shift, vector));
    const V moved = hn::NegMulAdd(distance, lanes_of(pull, vector), rest);
    hn::StoreU(hn::Mul(moved, lanes_of(slope, vector)), d, out + at);
  });
  for (; i < count; ++i) {
    const auto lane = static_cast<size_t>(i % kLanes);
    out[i] = (d_y[i] - shift[lane] - (x[i] - mean[lane]) * pull[lane]) * slope[lane];
  }
}

void MapReluGradient(const float* d_y, const float* y, int64_t count, float* out) {
  const D d;
  int64_t i = over_lanes(0, count, [&](int64_t at, size_t, size_t) HWY_ATTR {
    const auto passes = hn::Gt(hn::LoadU(d, y + at), hn::Zero(d));
    hn::StoreU(hn::IfThenElseZero(passes, hn::LoadU(d, d_y + at)), d, out + at);
  });
  for (; i < count; ++i)
    out[i] = y[i] > 0 ? d_y[i] : 0;
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(AddElements);
HWY_EXPORT(AddSquares);
HWY_EXPORT(AddProducts);
HWY_EXPORT(MapAffine);
HWY_EXPORT(MapGradient);
HWY_EXPORT(MapReluGradient);

void add_elements(const float* x, int64_t count, LaneSums& sums) {
  HWY_DYNAMIC_DISPATCH(AddElements)(x, count, sums);
}
void add_squares(const float* x, int64_t count, const Lanes& mean, LaneSums& squares) {
  HWY_DYNAMIC_DISPATCH(AddSquares)(x, count, mean, squares);
}
void add_products(const float* d, const float* x, int64_t count, const Lanes& mean,
                  LaneSums& squares, LaneSums& gradients, LaneSums& products) {
  HWY_DYNAMIC_DISPATCH(AddProducts)(d, x, count, mean, squares, gradients, products);
}
void map_affine(const float* x, int64_t count, const Lanes& mean, const Lanes& slope,
                const Lanes& shift, float* out) {
  HWY_DYNAMIC_DISPATCH(MapAffine)(x, count, mean, slope, shift, out);
}
void map_gradient(const float* d, const float* x, int64_t count, const Lanes& mean,
                  const Lanes& slope, const Lanes& shift, const Lanes& pull, float* out) {
  HWY_DYNAMIC_DISPATCH(MapGradient)(d, x, count, mean, slope, shift, pull, out);
}
void map_relu_gradient(const float* d, const float* y, int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(MapReluGradient)(d, y, count, out);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
