#include "eager/functional/rows.h"

#include <algorithm>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/axes.h"
#include "eager/functional/functional.h"
#include "eager/placed.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

// What the choices are made of must be known: as many as there are become constants.
int64_t known_length(const Tensor& x, size_t rank, const char* function, const Loc& loc) {
  require_defined(x, function, "x", loc);
  if (x.rank() != rank)
    fail_at(loc, function, ": expected ", rank == 1 ? "a vector" : "rows [n, d]", ", got ",
            x.type());
  return x.size(0, loc).value();
}

// Places of all choices of `count` among `length` in order, one after the other.
std::vector<int64_t> places_of_choices(int64_t length, int64_t count, bool with_replacement) {
  std::vector<int64_t> all, choice;
  for (int64_t i = 0; i < count; ++i)
    choice.push_back(with_replacement ? 0 : i);
  const auto most = [&](size_t at) {
    return with_replacement ? length - 1 : length - count + static_cast<int64_t>(at);
  };
  if (length == 0 || (!with_replacement && count > length)) return all;
  while (true) {
    all.insert(all.end(), choice.begin(), choice.end());
    size_t at = choice.size();
    while (at > 0 && choice[at - 1] == most(at - 1))
      --at;
    if (at == 0) return all;
    ++choice[at - 1];
    for (; at < choice.size(); ++at)
      choice[at] = choice[at - 1] + (with_replacement ? 0 : 1);
  }
}

}  // namespace

Tensor unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step, Loc loc) {
  require_defined(x, "unfold", "x", loc);
  const size_t at = normalized_axis(axis, x.rank(), "unfold", loc);
  const Dim length = x.size(static_cast<int64_t>(at), loc);
  const bool fits = !length.is_known() || length.value() >= size;
  if (size < 0 || step < 1 || !fits) {
    fail_at(loc, "unfold: expected 0 <= size <= ", length, " and a step of at least 1, got ", size,
            " and ", step);
  }
  const Dim count = floor_div(length - Dim(size), Dim(step)) + 1;
  const Tensor begins = mul({arange(count, {.dtype = DType::kInt64}, loc), loc}, step);
  const Tensor places =
      add({begins.unsqueeze(1, loc), loc}, arange(size, {.dtype = DType::kInt64}, loc));
  const auto first = static_cast<int64_t>(at);
  const Tensor windows = index_select(x, first, places.reshape({-1}, loc), loc);
  return movedim(unflatten(windows, first, {count, size}, loc), {first + 1}, {-1}, loc);
}

Tensor combinations(const Tensor& x, int64_t count, bool with_replacement, Loc loc) {
  const int64_t length = known_length(x, 1, "combinations", loc);
  if (count < 0) fail_at(loc, "combinations: expected a count of at least 0, got ", count);
  if (count == 0) return zeros({0}, {.dtype = x.dtype()}, loc);
  const std::vector<int64_t> places = places_of_choices(length, count, with_replacement);
  const auto rows = static_cast<int64_t>(places.size()) / count;
  return index_select(x, 0, int64s(places), loc).reshape({rows, count}, loc);
}

Tensor vander(const Tensor& x, std::optional<int64_t> columns, bool increasing, Loc loc) {
  const int64_t length = known_length(x, 1, "vander", loc);
  const int64_t count = columns.value_or(length);
  if (count < 0) fail_at(loc, "vander: expected at least 0 columns, got ", count);
  const Tensor values = is_floating(x.dtype()) ? x : x.to(DType::kInt64, loc);
  if (count == 0) return zeros({length, 0}, {.dtype = values.dtype()}, loc);
  std::vector<Tensor> powers{ones_like(values, loc)};
  while (std::ssize(powers) < count)
    powers.push_back(mul({powers.back(), loc}, values));
  if (!increasing) std::ranges::reverse(powers);
  return stack(powers, 1, loc);
}

Tensor pdist(const Tensor& x, double p, Loc loc) {
  const int64_t rows = known_length(x, 2, "pdist", loc);
  if (p < 0 || !is_floating(x.dtype()))
    fail_at(loc, "pdist: expected floating rows [n, d] and p of at least 0, got ", x.type(),
            " and ", p);
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = i + 1; k < rows; ++k) {
      first.push_back(i);
      second.push_back(k);
    }
  }
  const auto chosen = [&](const std::vector<int64_t>& places) {
    return index_select(x, 0, int64s(places), loc);
  };
  return row_norms(sub({chosen(first), loc}, chosen(second)), p, loc);
}

Tensor renorm(const Tensor& x, double p, int64_t axis, double maxnorm, Loc loc) {
  require_defined(x, "renorm", "x", loc);
  const size_t kept = normalized_axis(axis, x.rank(), "renorm", loc);
  if (!(p > 0) || !(maxnorm >= 0) || x.rank() < 2) {
    fail_at(loc, "renorm: expected at least 2 axes, p above 0 and maxnorm of at least 0, got ",
            x.type(), ", ", p, " and ", maxnorm);
  }
  Axes others;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (i != kept) others.push_back(static_cast<int64_t>(i));
  }
  const Tensor norms = norm(x, p, others, true, loc);
  // torch's small number in the divisor.
  const Tensor scaled = div({maxnorm, loc}, add({norms, loc}, 1e-7));
  const Tensor factor = where(Operand(norms, loc) > maxnorm, {scaled, loc}, 1);
  return mul({x, loc}, factor);
}

Tensor msort(const Tensor& x, Loc loc) {
  return sort(x, 0, false, loc).first;
}

}  // namespace sardonyx::eager
