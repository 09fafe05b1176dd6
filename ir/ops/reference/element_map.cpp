#include "ir/ops/reference/element_map.h"

#include <algorithm>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/run_control.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {
namespace {

template <typename Body>
void dispatch_keys(DType dtype, Body&& body) {
  detail::dispatch_among<std::string, int64_t, float, int32_t, int16_t, double>(dtype, body);
}

}  // namespace

ElementMap::ElementMap(Tensor keys, const Tensor& values, const Tensor& otherwise, Equals equals)
    : keys_(std::move(keys)),
      values_(Tensor::allocate(values.dtype(), {values.count() + 1})),
      table_(static_cast<size_t>(keys_.count())) {
  copy_run(values.dtype(), values.raw(), 0, values_.raw(), 0, values.count());
  copy_run(values.dtype(), otherwise.raw(), 0, values_.raw(), values.count(), 1);
  dispatch_keys(keys_.dtype(), [&]<typename T>() {
    const T* all = keys_.values<T>().data();
    for (int64_t i = 0; i < keys_.count(); ++i) {
      const int64_t key = equals == Equals::kFirst ? i : keys_.count() - 1 - i;
      table_.find_or_add(hash_element(all[key]), key,
                         [&](int64_t known) { return same_element(all[known], all[key]); });
    }
  });
}

void ElementMap::apply(const void* from, int64_t count, void* to) const {
  constexpr int64_t kPiece = 256;  // elements looked up at a time
  int64_t places[kPiece];
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    check_interrupted();
    const int64_t length = std::min(kPiece, count - begin);
    dispatch_keys(keys_.dtype(), [&]<typename T>() {
      const T* all = keys_.values<T>().data();
      for (int64_t i = 0; i < length; ++i) {
        const T& x = static_cast<const T*>(from)[begin + i];
        const int64_t place = table_.find(
            hash_element(x), [&](int64_t known) { return same_element(all[known], x); });
        places[i] = place == ElementTable::kNone ? keys_.count() : place;
      }
    });
    dispatch_width(values_.dtype(), [&]<typename T>() {
      const T* values = static_cast<const T*>(values_.raw());
      T* out = static_cast<T*>(to) + begin;
      if constexpr (std::is_same_v<T, std::string>) {
        size_t bytes = static_cast<size_t>(length) * sizeof(T);
        for (int64_t i = 0; i < length; ++i)
          bytes += values[places[i]].size();
        note_copied(bytes);
        for (int64_t i = 0; i < length; ++i)
          assign_noted_string(out[i], values[places[i]]);
      } else {
        for (int64_t i = 0; i < length; ++i)
          out[i] = values[places[i]];
      }
    });
  }
}

}  // namespace sardonyx::ops
