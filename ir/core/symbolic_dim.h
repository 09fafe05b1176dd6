// Dimensions: integers, or expressions over named symbols that stand for sizes not known before the
// run.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx {

// An integer or a polynomial over atoms, kept in one normal form, so that == proves equality of
// what is written differently (2*h + h == 3*h). Atoms are symbols and floor, min and max of
// expressions. Symbols stand for sizes, so they are never negative. Arithmetic that leaves int64
// throws kResourceExhausted.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t value) : value_(value) {}
  static Dim symbol(std::string_view name);

  bool is_known() const { return expression_ == nullptr; }
  int64_t value() const;  // throws kInternal unless is_known()
  std::optional<int64_t> try_value() const {
    return is_known() ? std::optional(value_) : std::nullopt;
  }

  // Equal for every value of the symbols. `false` only means "not proved".
  bool operator==(const Dim& other) const;
  bool operator==(int64_t value) const { return is_known() && value_ == value; }

  Dim operator+(const Dim& other) const;
  Dim operator-(const Dim& other) const;
  Dim operator*(const Dim& other) const;
  Dim& operator+=(const Dim& other) { return *this = *this + other; }
  Dim& operator*=(const Dim& other) { return *this = *this * other; }

  // The set of symbols it depends on.
  std::set<std::string> symbols() const;
  // Each symbol replaced by what `lookup` gives; a symbol with none stays.
  using Lookup = std::function<std::optional<Dim>(std::string_view symbol)>;
  Dim substitute(const Lookup& lookup) const;

  // "7", "batch", "2*height + 1", "floor((w - 1)/2)"; what `parse_dim` reads.
  std::string text() const;

  struct Expression;

 private:
  friend Dim make_dim(std::shared_ptr<const Expression> expression);
  friend struct DimAlgebra;
  int64_t value_ = 0;
  std::shared_ptr<const Expression> expression_;
};

// floor(a / b) and ceil(a / b); b must not be known to be zero.
Dim floor_div(const Dim& a, const Dim& b);
Dim ceil_div(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
// Proved to be >= 0 for every value of the symbols. `false` only means "not proved".
bool is_nonnegative(const Dim& dim);
// a / b where it is proved that b divides a for every value of the symbols.
std::optional<Dim> exact_div(const Dim& a, const Dim& b);

// Reads what text() writes; nullopt where `text` is no such expression (then it is best taken as
// one symbol's name).
std::optional<Dim> parse_dim(std::string_view text);

std::ostream& operator<<(std::ostream& out, const Dim& dim);

using Dims = std::vector<Dim>;
using Shape = std::vector<int64_t>;

// The integers of `dims`; nullopt if one is not known.
std::optional<Shape> known_shape(const Dims& dims);
Dims to_dims(const Shape& shape);
// The number of elements; 1 for rank 0. The integer form throws kResourceExhausted where it
// overflows.
Dim element_count(const Dims& dims);
int64_t element_count(const Shape& shape);
std::string to_text(const Dims& dims);    // "[batch, 3, 2*h]"
std::string to_text(const Shape& shape);  // "[1, 3, 224]"

}  // namespace sardonyx
