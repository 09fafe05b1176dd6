// A primitive's work cut into parts that run side by side. oneDNN runs each primitive on the thread
// that calls it; more threads have a part each, a primitive of its own on slices of the arguments.
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
  // The argument whose rows are read through windows, `extent` long: what makes row i of the axis
  // begins at row i * stride - pad_begin of the argument. Spread windows go the other way: row i of
  // the argument is part of the rows of the axis from i * stride - pad_begin on.
  struct Windows {
    int argument;
    size_t dim;
    int64_t stride, extent, pad_begin;
    bool are_spread = false;
  };
  int64_t extent = 0;
  std::vector<Along> along;
  std::optional<Windows> windows = std::nullopt;
  int64_t unit = 1;  // where a part may begin: at multiples of this that are whole blocks, too
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

// What is to be cut.
struct Work {
  ArgumentDescs arguments;    // how those lie that are cut; others are the same for all parts
  std::vector<CutAxis> axes;  // the better ones first
  double products = 0;  // multiplications; for an element that is only moved, kProductsPerMove
  std::function<MaybePrimitive(const ArgumentDescs&, const std::optional<PartPads>&)> make;
};
constexpr double kProductsPerMove = 16;

struct Part {
  Primitive primitive;
  std::vector<std::pair<int, Slice>> slices;  // of the arguments that are cut
};

// Threads, out of `threads`, that this much work keeps busy.
int64_t threads_for(double products, int threads);
// What a part takes at least from now on; gives what it was. For tests.
double set_least_products_per_part(double products);

// About as many parts as `threads`; none where one thread is as fast, or no axis can be cut.
// `whole` is the primitive of all, which the parts are to be like.
std::vector<Part> parts_of(const Work& work, const Primitive& whole, int threads);

// Axes of all dims that `arguments` have in common with `model`, the outermost in memory first;
// dims of 1 are repeated.
std::vector<CutAxis> axes_of_elements(const ArgumentDescs& arguments, const Desc& model);

// Leaves out the axes that an argument is cut along.
void keep_whole(Work& work, int argument);

double elements_of(const Desc& desc);

}  // namespace sardonyx::onednn
