#include "ir/ops/gradient.h"

namespace sardonyx::ops {

Term apply(std::string_view op, const Term& x, const AttrMap& attrs) {
  return {x.e, x.e->call(op, {x.val}, attrs)};
}
Term apply(std::string_view op, const Term& a, const Term& b, const AttrMap& attrs) {
  return {a.e, a.e->call(op, {a.val, b.val}, attrs)};
}
Term apply(std::string_view op, const Term& a, const Term& b, const Term& c) {
  return {a.e, a.e->call(op, {a.val, b.val, c.val})};
}

Term cast(const Term& x, DType to) {
  return x.dtype() == to ? x : apply("Cast", x, {{"to", static_cast<int64_t>(to)}});
}

}  // namespace sardonyx::ops
