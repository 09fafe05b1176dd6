#include "ir/core/symbolic_dim.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <ostream>

#include "ir/core/error.h"
#include "ir/core/symbolic_dim_expression.h"

namespace sardonyx {

namespace {

using Terms = std::map<std::string, DimTerm>;

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    fail(ErrorCode::kResourceExhausted, "dimension ", a, " + ", b, " overflows");
  return sum;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    fail(ErrorCode::kResourceExhausted, "dimension ", a, " * ", b, " overflows");
  }
  return product;
}

int64_t floor_div_int(int64_t a, int64_t b) {
  if (b == -1) return checked_mul(a, -1);
  const int64_t quotient = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::string key_of(const std::vector<AtomPtr>& atoms) {
  std::string key;
  for (const AtomPtr& atom : atoms)
    key += (key.empty() ? "" : "*") + atom->text;
  return key;
}

void add_term(Terms& terms, DimTerm term) {
  if (term.coefficient == 0) return;
  const std::string key = key_of(term.atoms);
  const auto [at, inserted] = terms.try_emplace(key, term);
  if (inserted) return;
  at->second.coefficient = checked_add(at->second.coefficient, term.coefficient);
  if (at->second.coefficient == 0) terms.erase(at);
}

}  // namespace

Dim make_dim(std::shared_ptr<const Dim::Expression> expression) {
  Dim dim;
  dim.expression_ = std::move(expression);
  return dim;
}

struct DimAlgebra {
  static const Dim::Expression* expression_of(const Dim& dim) { return dim.expression_.get(); }

  static Terms terms_of(const Dim& dim) {
    if (dim.expression_) return dim.expression_->terms;
    Terms terms;
    add_term(terms, {dim.value_, {}});
    return terms;
  }

  static Dim from_terms(Terms terms) {
    if (terms.empty()) return Dim(0);
    if (terms.size() == 1 && terms.begin()->first.empty())
      return Dim(terms.begin()->second.coefficient);
    auto expression = std::make_shared<Dim::Expression>();
    expression->terms = std::move(terms);
    return make_dim(std::move(expression));
  }

  static Dim from_atom(Atom atom) {
    Terms terms;
    add_term(terms, {1, {std::make_shared<const Atom>(std::move(atom))}});
    return from_terms(std::move(terms));
  }
};

const Dim::Expression* expression_of(const Dim& dim) {
  return DimAlgebra::expression_of(dim);
}

namespace {

Dim function_of(Atom::Kind kind, std::string_view name, const Dim& a, const Dim& b) {
  std::string text = kind == Atom::Kind::kFloor
                         ? "floor((" + a.text() + ")/(" + b.text() + "))"
                         : std::string(name) + "(" + a.text() + ", " + b.text() + ")";
  return DimAlgebra::from_atom({kind, std::move(text), {a, b}});
}

// The lesser of a and b where that can be seen: they differ by a constant, or one is zero and the
// other a sum of non-negative terms.
std::optional<Dim> proved_less(const Dim& a, const Dim& b) {
  const Dim difference = b - a;
  if (is_nonnegative(difference)) return a;
  if (is_nonnegative(a - b)) return b;
  return std::nullopt;
}

// Signs are 1 for what is proved to be >= 0, -1 for <= 0, and 0 where neither is. One visit of each
// part, so that deeply nested dims cost no more than their size.
int sign_of(const Dim& dim);

int sign_of(const Atom& atom) {
  if (atom.kind == Atom::Kind::kSymbol) return 1;
  const int first = sign_of(atom.arguments[0]), second = sign_of(atom.arguments[1]);
  if (atom.kind == Atom::Kind::kFloor)
    return first * second;  // of sign -1 or 1, or 0 where unknown
  const int dominant = atom.kind == Atom::Kind::kMax ? 1 : -1;
  if (first == dominant || second == dominant) return dominant;
  return first == second ? first : 0;
}

int sign_of(const Dim& dim) {
  if (dim.is_known()) return dim.value() >= 0 ? 1 : -1;
  int sign = 0;
  for (const auto& [key, term] : DimAlgebra::terms_of(dim)) {
    int of_term = term.coefficient < 0 ? -1 : 1;
    for (const AtomPtr& atom : term.atoms)
      of_term *= sign_of(*atom);
    if (of_term == 0 || of_term == -sign) return 0;
    sign = of_term;
  }
  return sign;
}

}  // namespace

bool is_nonnegative(const Dim& dim) {
  return sign_of(dim) == 1;
}

Dim Dim::symbol(std::string_view name) {
  return DimAlgebra::from_atom({Atom::Kind::kSymbol, std::string(name), {}});
}

int64_t Dim::value() const {
  SARDONYX_CHECK(is_known());
  return value_;
}

bool Dim::operator==(const Dim& other) const {
  if (is_known() != other.is_known()) return false;
  if (is_known()) return value_ == other.value_;
  if (expression_ == other.expression_) return true;
  const auto same = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.coefficient == b.second.coefficient;
  };
  return std::equal(expression_->terms.begin(), expression_->terms.end(),
                    other.expression_->terms.begin(), other.expression_->terms.end(), same);
}

Dim Dim::operator+(const Dim& other) const {
  if (is_known() && other.is_known()) return Dim(checked_add(value_, other.value_));
  Terms terms = DimAlgebra::terms_of(*this);
  for (auto& [key, term] : DimAlgebra::terms_of(other))
    add_term(terms, term);
  return DimAlgebra::from_terms(std::move(terms));
}

Dim Dim::operator-(const Dim& other) const {
  return *this + other * Dim(-1);
}

Dim Dim::operator*(const Dim& other) const {
  if (is_known() && other.is_known()) return Dim(checked_mul(value_, other.value_));
  Terms product;
  const Terms right = DimAlgebra::terms_of(other);
  for (const auto& [left_key, a] : DimAlgebra::terms_of(*this)) {
    for (const auto& [right_key, b] : right) {
      DimTerm term{checked_mul(a.coefficient, b.coefficient), a.atoms};
      term.atoms.insert(term.atoms.end(), b.atoms.begin(), b.atoms.end());
      std::sort(term.atoms.begin(), term.atoms.end(),
                [](const AtomPtr& x, const AtomPtr& y) { return x->text < y->text; });
      add_term(product, std::move(term));
    }
  }
  return DimAlgebra::from_terms(std::move(product));
}

std::set<std::string> Dim::symbols() const {
  std::set<std::string> found;
  if (is_known()) return found;
  for (const auto& [key, term] : expression_->terms) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind == Atom::Kind::kSymbol) found.insert(atom->text);
      for (const Dim& argument : atom->arguments)
        found.merge(argument.symbols());
    }
  }
  return found;
}

Dim Dim::substitute(const Lookup& lookup) const {
  if (is_known()) return *this;
  Dim sum = 0;
  for (const auto& [key, term] : expression_->terms) {
    Dim product = term.coefficient;
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind == Atom::Kind::kSymbol) {
        product *= lookup(atom->text).value_or(Dim::symbol(atom->text));
        continue;
      }
      const Dim a = atom->arguments[0].substitute(lookup);
      const Dim b = atom->arguments[1].substitute(lookup);
      if (atom->kind == Atom::Kind::kFloor) product *= floor_div(a, b);
      if (atom->kind == Atom::Kind::kMin) product *= min(a, b);
      if (atom->kind == Atom::Kind::kMax) product *= max(a, b);
    }
    sum += product;
  }
  return sum;
}

std::string Dim::text() const {
  if (is_known()) return std::to_string(value_);
  std::string text;
  // The constant term, whose key is empty, reads best at the end.
  const auto append = [&](const DimTerm& term) {
    const bool negative = term.coefficient < 0;
    if (text.empty())
      text += negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    const std::string key = key_of(term.atoms);
    const std::string magnitude = std::to_string(term.coefficient).substr(negative ? 1 : 0);
    if (key.empty())
      text += magnitude;
    else
      text += magnitude == "1" ? key : magnitude + "*" + key;
  };
  for (const auto& [key, term] : expression_->terms) {
    if (!key.empty()) append(term);
  }
  if (const auto constant = expression_->terms.find(""); constant != expression_->terms.end())
    append(constant->second);
  return text;
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (b.is_known() && b.value() == 0)
    fail(ErrorCode::kInvalidArgument, "dimension ", a, " is divided by zero");
  if (a.is_known() && b.is_known()) return Dim(floor_div_int(a.value(), b.value()));
  if (const std::optional<Dim> exact = exact_div(a, b)) return *exact;
  if (!b.is_known()) return function_of(Atom::Kind::kFloor, "floor", a, b);
  // floor((d*q + r) / d) = q + floor(r / d): take out what d divides, term by term.
  Terms quotient, rest;
  for (const auto& [key, term] : DimAlgebra::terms_of(a)) {
    const int64_t part = floor_div_int(term.coefficient, b.value());
    const int64_t covered = checked_mul(part, b.value());
    if (key.empty() || covered == term.coefficient) {
      add_term(quotient, {part, term.atoms});
      add_term(rest, {term.coefficient - covered, term.atoms});
    } else {
      add_term(rest, term);
    }
  }
  const Dim remainder = DimAlgebra::from_terms(std::move(rest));
  const Dim whole = DimAlgebra::from_terms(std::move(quotient));
  if (remainder.is_known()) return whole + Dim(floor_div_int(remainder.value(), b.value()));
  return whole + function_of(Atom::Kind::kFloor, "floor", remainder, b);
}

Dim ceil_div(const Dim& a, const Dim& b) {
  return Dim(0) - floor_div(Dim(0) - a, b);
}

Dim min(const Dim& a, const Dim& b) {
  if (const auto less = proved_less(a, b)) return *less;
  return a.text() < b.text() ? function_of(Atom::Kind::kMin, "min", a, b)
                             : function_of(Atom::Kind::kMin, "min", b, a);
}

Dim max(const Dim& a, const Dim& b) {
  if (const auto less = proved_less(a, b)) return *less == a ? b : a;
  return a.text() < b.text() ? function_of(Atom::Kind::kMax, "max", a, b)
                             : function_of(Atom::Kind::kMax, "max", b, a);
}

std::optional<Dim> exact_div(const Dim& a, const Dim& b) {
  if (b.is_known() && b.value() == 0) return std::nullopt;
  if (a == b) return Dim(1);
  const Terms divisor = DimAlgebra::terms_of(b);
  if (divisor.size() != 1) return std::nullopt;
  const DimTerm& d = divisor.begin()->second;
  Terms quotient;
  for (const auto& [key, term] : DimAlgebra::terms_of(a)) {
    // The lowest int64 divided by -1 traps, so negation is a product.
    const bool negates = d.coefficient == -1;
    if (!negates && term.coefficient % d.coefficient != 0) return std::nullopt;
    DimTerm part{negates ? checked_mul(term.coefficient, -1) : term.coefficient / d.coefficient,
                 term.atoms};
    for (const AtomPtr& atom : d.atoms) {
      const auto same = [&](const AtomPtr& candidate) { return candidate->text == atom->text; };
      const auto at = std::find_if(part.atoms.begin(), part.atoms.end(), same);
      if (at == part.atoms.end()) return std::nullopt;
      part.atoms.erase(at);
    }
    add_term(quotient, std::move(part));
  }
  return DimAlgebra::from_terms(std::move(quotient));
}

namespace {

// A recursive-descent reader of text(); its depth is bounded, since texts come from files.
class DimParser {
 public:
  explicit DimParser(std::string_view text) : rest_(text) {}

  std::optional<Dim> parse() {
    const std::optional<Dim> sum = parse_sum(0);
    skip_spaces();
    return rest_.empty() ? sum : std::nullopt;
  }

 private:
  static constexpr int kMaxDepth = 32;

  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ')
      rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::optional<Dim> parse_sum(int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    const bool negative = take("-");
    std::optional<Dim> sum = parse_product(depth);
    if (sum && negative) sum = Dim(0) - *sum;
    while (sum) {
      const bool plus = take("+");
      if (!plus && !take("-")) break;
      const std::optional<Dim> term = parse_product(depth);
      if (!term) return std::nullopt;
      sum = plus ? *sum + *term : *sum - *term;
    }
    return sum;
  }

  std::optional<Dim> parse_product(int depth) {
    std::optional<Dim> product = parse_factor(depth);
    while (product) {
      const bool times = take("*");
      if (!times && !take("/")) break;
      const std::optional<Dim> factor = parse_factor(depth);
      if (!factor || (!times && *factor == 0)) return std::nullopt;
      product = times ? *product * *factor : floor_div(*product, *factor);
    }
    return product;
  }

  std::optional<Dim> parse_factor(int depth) {
    skip_spaces();
    if (take("(")) {
      const std::optional<Dim> inner = parse_sum(depth + 1);
      return inner && take(")") ? inner : std::nullopt;
    }
    for (const std::string_view name : {"floor", "min", "max"}) {
      if (!rest_.starts_with(std::string(name) + "(")) continue;
      rest_.remove_prefix(name.size() + 1);
      const std::optional<Dim> first = parse_sum(depth + 1);
      if (!first) return std::nullopt;
      if (name == "floor") return take(")") ? first : std::nullopt;  // '/' already floors
      if (!take(",")) return std::nullopt;
      const std::optional<Dim> second = parse_sum(depth + 1);
      if (!second || !take(")")) return std::nullopt;
      return name == "min" ? min(*first, *second) : max(*first, *second);
    }
    return parse_leaf();
  }

  std::optional<Dim> parse_leaf() {
    size_t length = 0;
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '?';
    };
    while (length < rest_.size() && is_word(rest_[length]))
      ++length;
    if (length == 0) return std::nullopt;
    const std::string word(rest_.substr(0, length));
    rest_.remove_prefix(length);
    if (!std::isdigit(static_cast<unsigned char>(word[0]))) return Dim::symbol(word);
    if (!std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; }) ||
        word.size() > 18) {
      return std::nullopt;
    }
    return Dim(std::stoll(word));
  }

  std::string_view rest_;
};

}  // namespace

std::optional<Dim> parse_dim(std::string_view text) {
  return DimParser(text).parse();
}

std::ostream& operator<<(std::ostream& out, const Dim& dim) {
  return out << dim.text();
}

std::optional<Shape> known_shape(const Dims& dims) {
  Shape shape;
  shape.reserve(dims.size());
  for (const Dim& dim : dims) {
    if (!dim.is_known()) return std::nullopt;
    shape.push_back(dim.value());
  }
  return shape;
}

Dims to_dims(const Shape& shape) {
  return Dims(shape.begin(), shape.end());
}

Dim element_count(const Dims& dims) {
  Dim count = 1;
  for (const Dim& dim : dims)
    count *= dim;
  return count;
}

int64_t element_count(const Shape& shape) {
  // A zero anywhere makes the tensor empty, however large the other dims are.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t count = 1;
  for (const int64_t dim : shape)
    count = checked_mul(count, dim);
  return count;
}

std::string to_text(const Dims& dims) {
  std::string text = "[";
  for (const Dim& dim : dims)
    text += (text.size() > 1 ? ", " : "") + dim.text();
  return text + "]";
}

std::string to_text(const Shape& shape) {
  return to_text(to_dims(shape));
}

}  // namespace sardonyx
