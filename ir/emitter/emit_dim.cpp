#include "ir/emitter/emit_dim.h"

#include "ir/core/symbolic_dim_expression.h"
#include "ir/op_def.h"

namespace sardonyx {
namespace {

class DimWriter {
 public:
  DimWriter(Emitter& e, const std::function<Val(std::string_view)>& symbol)
      : e_(e), symbol_(symbol) {}

  Val write(const Dim& dim) {
    if (dim.is_known()) return e_.int64s({dim.value()});
    Val sum;
    for (const auto& [key, term] : expression_of(dim)->terms) {
      const Val part = write(term);
      sum = sum ? e_.call("Add", {sum, part}) : part;
    }
    return sum;
  }

 private:
  Val write(const DimTerm& term) {
    Val product;
    if (term.coefficient != 1 || term.atoms.empty()) product = e_.int64s({term.coefficient});
    for (const AtomPtr& atom : term.atoms) {
      const Val factor = write(*atom);
      product = product ? e_.call("Mul", {product, factor}) : factor;
    }
    return product;
  }

  Val write(const Atom& atom) {
    if (atom.kind == Atom::Kind::kSymbol) return symbol_(atom.text);
    const Val a = write(atom.arguments[0]), b = write(atom.arguments[1]);
    if (atom.kind == Atom::Kind::kMin) return e_.call("Min", {a, b});
    if (atom.kind == Atom::Kind::kMax) return e_.call("Max", {a, b});
    // Div rounds towards zero, a dim's division towards minus infinity; Mod has b's sign.
    return e_.call("Div", {e_.call("Sub", {a, e_.call("Mod", {a, b})}), b});
  }

  Emitter& e_;
  const std::function<Val(std::string_view)>& symbol_;
};

}  // namespace

Val dim_value(Emitter& e, const Dim& dim, const std::function<Val(std::string_view name)>& symbol) {
  return DimWriter(e, symbol).write(dim);
}

}  // namespace sardonyx
