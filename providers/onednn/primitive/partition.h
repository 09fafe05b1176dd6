// Splits the work of a primitive into parts that run in parallel. oneDNN runs each primitive on the
// thread that calls it, so every thread executes a primitive of its own on slices of the arguments.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "providers/onednn/primitive/api.h"

namespace sardonyx::onednn {

using ArgumentDescs = std::map<int, Desc>;  // by DNNL_ARG_...

// An axis that work can be cut along.
struct CutAxis {
  // Index i of the axis is indices [i * step, (i + 1) * step) of a dim of an argument.
  struct Along {
    int argument;
    size_t dim;
    int64_t step = 1;
  };
  // An argument that is read through windows of `extent` rows: row i of the axis is computed from
  // the rows from i * stride - pad_begin on of the argument. Spread windows are the transpose: row
  // i of the argument contributes to the rows of the axis from i * stride - pad_begin on.
  struct Windows {
    int argument;
    size_t dim;
    int64_t stride, extent, pad_begin;
    bool are_spread = false;
  };
  int64_t extent = 0;
  std::vector<Along> along;
  std::optional<Windows> windows = std::nullopt;
  int64_t unit = 1;  // parts begin at multiples of this, which must be whole blocks as well
};

// The rows that a part's windows find outside of its slice, along one spatial axis.
struct PartPads {
  size_t dim;
  int64_t begin, end;
};

// The rows [begin, end) out of `size` that make rows [made_begin, made_end), and the padding that
// goes with them.
struct RowsRead {
  int64_t begin, end, pad_begin, pad_end;
};
RowsRead rows_read(const CutAxis::Windows& windows, int64_t size, int64_t made_begin,
                   int64_t made_end);

// A primitive's work, before it is split.
struct Work {
  ArgumentDescs arguments;    // layouts of the arguments that are sliced; the others are shared
  std::vector<CutAxis> axes;  // the better ones first
  double products = 0;  // multiplications; for an element that is only moved, kProductsPerMove
  // The primitive's order of summation depends on its size. So the work is cut into the same parts
  // for any number of threads, even one, and the result is bit for bit the same.
  bool has_fixed_parts = false;
  std::function<MaybePrimitive(const ArgumentDescs&, const std::optional<PartPads>&)> make;
};
constexpr double kProductsPerMove = 16;

struct PrimitivePart {
  Primitive primitive;
  std::vector<std::pair<int, DescSlice>> slices;  // of the arguments that are cut
};

// The number of threads, at most `threads`, that this much work keeps busy.
int64_t threads_for(double products, int threads);
// The number of parts that Work::has_fixed_parts has at this size, for any number of threads.
int64_t fixed_parts_for(double products);
// Whether oneDNN's gemm adds up sums in an order that depends on the extents of the matrix. Without
// AVX-512 it chooses by the number of rows and columns whether to pack, and handles tile remainders
// separately, so that the sums of a part may differ from those of the whole.
bool gemm_sums_depend_on_extents();
// Sets the minimum work of a part and returns the previous one. For tests.
double set_min_products_per_part(double products);

// Cuts `work` into about `threads` parts, or into its fixed number; empty where one thread is as
// fast or no axis can be cut. The parts use the same implementation as `whole`, the primitive of
// all of it.
std::vector<PrimitivePart> parts_of(const Work& work, const Primitive& whole, int threads);

// Axes of all dims that `arguments` have in common with `model`, the outermost in memory first;
// dims of 1 are repeated.
std::vector<CutAxis> axes_of_elements(const ArgumentDescs& arguments, const Desc& model);

// Leaves out the axes that an argument is cut along.
void keep_whole(Work& work, int argument);

double elements_of(const Desc& desc);

}  // namespace sardonyx::onednn
