#include "providers/onednn/primitive/partition.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "providers/onednn/primitive/primitive_cache.h"

namespace sardonyx::onednn {
namespace {

// The least work of a part: some microseconds, below which waking another thread costs more than it
// gains.
std::atomic<double> min_products = 1 << 18;
// Threads that are busy for this part of the time count as fully used.
constexpr double kEvenEnough = 0.9;
constexpr int64_t kMaxPartsPerThread = 8;
// The parts of work that is cut alike for any number of threads (Work::has_fixed_parts). Few, since
// a single thread runs them all and packs operands anew for each.
constexpr int kFixedParts = 8;

// Parts along an axis, or along two: pieces of equal numbers of units, but for the last ones.
struct Grid {
  const CutAxis *outer, *inner;  // inner: null where there is one axis
  int64_t outer_pieces, inner_pieces;
  double evenness;  // the part of the time that threads have something to do
};

// The least multiple along the axis at which slices of all arguments begin with whole blocks.
int64_t unit_of(const CutAxis& axis, const ArgumentDescs& arguments) {
  int64_t unit = axis.unit;
  for (const CutAxis::Along& along : axis.along) {
    const int64_t block = block_of(arguments.at(along.argument), along.dim);
    unit = std::lcm(unit, block / std::gcd(block, along.step));
  }
  return unit;
}

int64_t units_of(const CutAxis& axis, const ArgumentDescs& arguments) {
  const int64_t unit = unit_of(axis, arguments);
  return (axis.extent + unit - 1) / unit;
}

double evenness(int64_t units, int64_t largest, int64_t parts, int64_t threads) {
  const int64_t rounds = (parts + threads - 1) / threads;
  return static_cast<double>(units) / static_cast<double>(threads * rounds * largest);
}

// All grids that cut the work along one axis or two, the best first.
std::vector<Grid> grids_of(const Work& work, int64_t threads) {
  std::vector<Grid> grids;
  const auto largest = [](int64_t units, int64_t pieces) { return (units + pieces - 1) / pieces; };
  for (size_t i = 0; i < work.axes.size(); ++i) {
    const int64_t outer = units_of(work.axes[i], work.arguments);
    if (outer < 2) continue;
    const int64_t pieces = std::min(outer, threads);
    grids.push_back({&work.axes[i], nullptr, pieces, 1,
                     evenness(outer, largest(outer, pieces), pieces, threads)});
    if (outer > kMaxPartsPerThread) continue;
    for (size_t j = i + 1; j < work.axes.size(); ++j) {
      const int64_t inner = units_of(work.axes[j], work.arguments);
      if (inner < 2) continue;
      const int64_t both = std::min(inner, threads);
      grids.push_back({&work.axes[i], &work.axes[j], outer, both,
                       evenness(outer * inner, largest(inner, both), outer * both, threads)});
    }
  }
  std::ranges::stable_sort(grids, std::greater(),
                           [](const Grid& grid) { return std::min(grid.evenness, kEvenEnough); });
  return grids;
}

struct AxisRange {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

AxisRange piece_of(const CutAxis& axis, int64_t unit, int64_t piece, int64_t pieces) {
  const int64_t units = (axis.extent + unit - 1) / unit;
  return {units * piece / pieces * unit,
          std::min(units * (piece + 1) / pieces * unit, axis.extent)};
}

// Builds one part by cutting its arguments axis by axis.
class PartCutter {
 public:
  explicit PartCutter(const Work& work) : arguments_(work.arguments) {}

  // Cuts all arguments along the axis. False where one has no such slice.
  bool along(const CutAxis& axis, const AxisRange& range) {
    for (const auto& [argument, dim, step] : axis.along) {
      if (!take(argument, dim, {range.begin * step, range.end * step})) return false;
    }
    return !axis.windows || take_windows(*axis.windows, range);
  }
  const ArgumentDescs& arguments() const { return arguments_; }
  const std::optional<PartPads>& pads() const { return pads_; }
  std::vector<std::pair<int, DescSlice>> slices() const {
    std::vector<std::pair<int, DescSlice>> all;
    for (const auto& [argument, offset] : offsets_)
      all.push_back({argument, {arguments_.at(argument), offset}});
    return all;
  }

 private:
  bool take(int argument, size_t dim, const AxisRange& range) {
    const auto own = slice(arguments_.at(argument), dim, range.begin, range.count());
    if (!own) return false;
    arguments_[argument] = own->desc;
    offsets_[argument] += own->offset;
    return true;
  }
  bool take_windows(const CutAxis::Windows& windows, const AxisRange& range) {
    const int64_t size = arguments_.at(windows.argument).dims()[windows.dim];
    const RowsRead read = rows_read(windows, size, range.begin, range.end);
    if (read.end <= read.begin) return false;
    pads_ = {windows.dim, read.pad_begin, read.pad_end};
    return take(windows.argument, windows.dim, {read.begin, read.end});
  }

  ArgumentDescs arguments_;
  std::map<int, size_t> offsets_;
  std::optional<PartPads> pads_;
};

// Makes the primitives of parts; parts of equal shapes share one.
class Makers {
 public:
  Makers(const Work& work, const std::string& like) : work_(work), like_(like) {}

  MaybePrimitive get(const PartCutter& cut) {
    PrimitiveKey question;
    for (const auto& [argument, desc] : cut.arguments())
      question << desc;
    if (cut.pads()) question << cut.pads()->begin << cut.pads()->end;
    const auto [at, is_new] = known_.try_emplace(question.bytes());
    if (is_new) {
      at->second = work_.make(cut.arguments(), cut.pads());
      if (at->second && !is_alike(*at->second)) at->second = std::nullopt;
    }
    return at->second;
  }

 private:
  // Whether the implementation is the wanted one (`like_`; "": any but reference loops, whose names
  // are such as "ref:any" and "lrn_ref:any").
  bool is_alike(const Primitive& primitive) const {
    const std::string name = primitive.implementation();
    return like_.empty() ? name.find("ref:") == std::string::npos : name == like_;
  }

  const Work& work_;
  const std::string& like_;
  std::unordered_map<std::string, MaybePrimitive> known_;
};

std::optional<std::vector<PrimitivePart>> parts_in(const Grid& grid, const Work& work,
                                                   Makers& makers) {
  std::vector<PrimitivePart> parts;
  const int64_t outer_unit = unit_of(*grid.outer, work.arguments);
  const int64_t inner_unit = grid.inner ? unit_of(*grid.inner, work.arguments) : 1;
  for (int64_t i = 0; i < grid.outer_pieces; ++i) {
    for (int64_t j = 0; j < grid.inner_pieces; ++j) {
      PartCutter cut(work);
      if (!cut.along(*grid.outer, piece_of(*grid.outer, outer_unit, i, grid.outer_pieces)))
        return std::nullopt;
      if (grid.inner &&
          !cut.along(*grid.inner, piece_of(*grid.inner, inner_unit, j, grid.inner_pieces)))
        return std::nullopt;
      const MaybePrimitive primitive = makers.get(cut);
      if (!primitive) return std::nullopt;
      parts.push_back({*primitive, cut.slices()});
    }
  }
  return parts;
}

RowsRead rows_under(const CutAxis::Windows& windows, int64_t size, const AxisRange& made) {
  const int64_t first = made.begin * windows.stride - windows.pad_begin;
  const int64_t last = first + (made.count() - 1) * windows.stride + windows.extent;
  const AxisRange from{std::max<int64_t>(first, 0), std::min(last, size)};
  return {from.begin, from.end, from.begin - first, last - from.end};
}

RowsRead rows_over(const CutAxis::Windows& windows, int64_t size, const AxisRange& made) {
  const int64_t step = windows.stride, pad = windows.pad_begin;
  const int64_t first = std::max<int64_t>(made.begin + pad - windows.extent + 1, 0);
  const AxisRange from{std::min((first + step - 1) / step, (made.begin + pad) / step),
                       std::min((made.end - 1 + pad) / step + 1, size)};
  const int64_t pad_begin = made.begin + pad - from.begin * step;
  return {from.begin, from.end, pad_begin,
          (from.count() - 1) * step + windows.extent - pad_begin - made.count()};
}

}  // namespace

RowsRead rows_read(const CutAxis::Windows& windows, int64_t size, int64_t made_begin,
                   int64_t made_end) {
  return windows.are_spread ? rows_over(windows, size, {made_begin, made_end})
                            : rows_under(windows, size, {made_begin, made_end});
}

int64_t threads_for(double products, int threads) {
  const double least = min_products.load(std::memory_order_relaxed);
  return static_cast<int64_t>(std::clamp<double>(products / least, 1, std::max(threads, 1)));
}

int64_t fixed_parts_for(double products) {
  return threads_for(products, kFixedParts);
}

bool gemm_sums_depend_on_extents() {
  static const bool depend = dnnl::get_effective_cpu_isa() < dnnl::cpu_isa::avx512_core;
  return depend;
}

double set_min_products_per_part(double products) {
  return min_products.exchange(products);
}

std::vector<PrimitivePart> parts_of(const Work& work, const Primitive& whole, int threads) {
  const int64_t used =
      work.has_fixed_parts ? fixed_parts_for(work.products) : threads_for(work.products, threads);
  if (used < 2) return {};
  const std::vector<Grid> grids = grids_of(work, used);
  // A slower implementation that all threads run is better than one that runs on one thread.
  for (const std::string& like : {whole.implementation(), std::string()}) {
    Makers makers(work, like);
    for (const Grid& grid : grids) {
      if (auto parts = parts_in(grid, work, makers)) return std::move(*parts);
    }
  }
  return {};
}

std::vector<CutAxis> axes_of_elements(const ArgumentDescs& arguments, const Desc& model) {
  const auto form = blocked_form(model);
  if (!form) return {};
  std::vector<size_t> order(form->dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t dim) { return form->strides[dim]; });
  std::vector<CutAxis> axes;
  for (const size_t dim : order) {
    CutAxis axis{form->dims[dim], {}};
    for (const auto& [argument, desc] : arguments) {
      const Extents dims = desc.dims();
      if (dims.size() == form->dims.size() && dims[dim] == axis.extent)
        axis.along.push_back({argument, dim});
    }
    if (axis.extent > 1) axes.push_back(std::move(axis));
  }
  return axes;
}

void keep_whole(Work& work, int argument) {
  std::erase_if(work.axes, [&](const CutAxis& axis) {
    return std::ranges::find(axis.along, argument, &CutAxis::Along::argument) != axis.along.end();
  });
}

double elements_of(const Desc& desc) {
  double count = 1;
  for (const int64_t dim : desc.dims())
    count *= static_cast<double>(dim);
  return count;
}

}  // namespace sardonyx::onednn
