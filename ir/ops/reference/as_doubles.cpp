#include "ir/ops/reference/as_doubles.h"

#include "ir/core/bools.h"
#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {

namespace {

// `read` or `write` of every number type; complex types are arrays of two reals.
template <typename Body>
void dispatch_parts(DType dtype, int part, Body&& body) {
  if (dtype == DType::kBool) return body.template operator()<bool>(1, 0);
  if (dtype == DType::kComplex64) return body.template operator()<float>(2, part);
  if (dtype == DType::kComplex128) return body.template operator()<double>(2, part);
  dispatch_numbers(dtype, [&]<typename T>() { body.template operator()<T>(1, 0); });
}

}  // namespace

DTypeSet blendable_types() {
  return kNumbers | kComplexes | DType::kBool;
}

int part_count(DType dtype) {
  return is_complex(dtype) ? 2 : 1;
}

std::pmr::vector<double> to_reals(const TensorView& view, int part) {
  std::pmr::vector<double> reals(scratch());
  reals.reserve(static_cast<size_t>(view.count()));
  dispatch_parts(view.dtype, part, [&]<typename T>(int64_t step, int64_t begin) {
    const T* in = view.data<T>() + begin;
    in_pieces(view.count(), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        if constexpr (std::is_same_v<T, bool>)
          reals.push_back(bool_at(in, i));
        else
          reals.push_back(static_cast<double>(in[i * step]));
      }
    });
  });
  return reals;
}

void from_reals(const double* values, const TensorView& view, int part) {
  dispatch_parts(view.dtype, part, [&]<typename T>(int64_t step, int64_t begin) {
    T* out = view.data<T>() + begin;
    in_pieces(view.count(), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        if constexpr (std::is_same_v<T, bool>)
          out[i] = values[i] != 0;
        else
          out[i * step] = from_real<T>(values[i]);
      }
    });
  });
}

}  // namespace sardonyx::ops
