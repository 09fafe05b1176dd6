#include "ir/ops/reference/element_map.h"

#include <algorithm>
#include <span>
#include <type_traits>

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
  list_dense_keys();
}

void ElementMap::list_dense_keys() {
  // Entries for each key, and for few keys with gaps between them.
  constexpr uint64_t kEntriesPerKey = 4, kLeastEntries = 256;
  if (keys_.count() == 0) return;
  dispatch_keys(keys_.dtype(), [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) {
      const std::span<const T> keys = keys_.values<T>();
      const auto [least, greatest] = std::ranges::minmax_element(keys);
      const uint64_t span = static_cast<uint64_t>(*greatest) - static_cast<uint64_t>(*least);
      if (span >= std::max(kLeastEntries, kEntriesPerKey * keys.size())) return;
      least_key_ = *least;
      std::vector<T> all(span + 1);
      for (size_t i = 0; i < all.size(); ++i)
        all[i] = static_cast<T>(static_cast<uint64_t>(*least) + i);
      std::vector<int64_t> places(all.size());
      look_up(all.data(), 0, static_cast<int64_t>(all.size()), places.data());
      dense_places_ = std::move(places);
    }
  });
}

void ElementMap::look_up(const void* from, int64_t begin, int64_t count, int64_t* places) const {
  dispatch_keys(keys_.dtype(), [&]<typename T>() {
    const std::span elements(static_cast<const T*>(from) + begin, static_cast<size_t>(count));
    const int64_t none = keys_.count();
    if constexpr (std::is_integral_v<T>) {
      if (!dense_places_.empty()) {
        for (const T x : elements) {
          const uint64_t at = static_cast<uint64_t>(x) - static_cast<uint64_t>(least_key_);
          *places++ = at < dense_places_.size() ? dense_places_[at] : none;
        }
        return;
      }
    }
    const T* all = keys_.values<T>().data();
    for (const T& x : elements) {
      const int64_t place =
          table_.find(hash_element(x), [&](int64_t known) { return same_element(all[known], x); });
      *places++ = place == ElementTable::kNone ? none : place;
    }
  });
}

void ElementMap::apply(const void* from, int64_t count, void* to) const {
  constexpr int64_t kPiece = 256;  // elements looked up at a time
  int64_t places[kPiece];
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    check_interrupted();
    const int64_t length = std::min(kPiece, count - begin);
    look_up(from, begin, length, places);
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
