#include "eager/autograd/jacobian.h"

#include <algorithm>

#include "eager/autograd/tape.h"
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/trace/control_flow.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

// Arguments as leaves of a derivative: the caller's own where that one is recorded further, so that
// the result has gradients by them.
struct Arguments {
  std::vector<Tensor> own;
  bool outer = false;

  explicit Arguments(const std::vector<Tensor>& given) {
    outer = is_grad_enabled() && std::ranges::any_of(given, [](const Tensor& argument) {
              return argument.defined() && argument.impl()->tracked();
            });
    for (const Tensor& argument : given) {
      // Another handle of the same value: a tensor may stand in two places.
      own.push_back(outer && argument.impl()->tracked() ? argument
                                                        : argument.detach().set_requires_grad());
    }
  }
  Tensor finished(const Tensor& result) const { return outer ? result : result.detach(); }
};

Tensor value_at(const Function& fn, const std::vector<Tensor>& inputs, const char* name,
                const Loc& loc) {
  const Tensor value = fn(inputs);
  if (value.defined() && is_floating(value.dtype())) return value;
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", name,
       ": expected a function that gives a floating tensor, got ",
       value.defined() ? text(value.type()) : "an undefined tensor");
}

// Zeros where a result does not depend on an input at all.
Tensor or_zeros(const Tensor& found, const Tensor& like, const Loc& loc) {
  return found.defined() ? found : zeros_like(like, loc);
}

std::vector<Tensor> pulled_back(const Tensor& value, const std::vector<Tensor>& inputs,
                                const Tensor& weight, bool create_graph, const Loc& loc) {
  std::vector<Tensor> found(inputs.size());
  if (value.impl()->tracked()) {
    found = grad({value}, inputs,
                 {.grad_outputs = {weight},
                  .create_graph = create_graph,
                  .retain_graph = true,
                  .allow_unused = true},
                 loc);
  }
  for (size_t i = 0; i < found.size(); ++i)
    found[i] = or_zeros(found[i], inputs[i], loc);
  return found;
}

void check_tangents(const std::vector<Tensor>& inputs, const std::vector<Tensor>& tangents,
                    const char* name, const Loc& loc) {
  bool fits = inputs.size() == tangents.size();
  for (size_t i = 0; fits && i < inputs.size(); ++i)
    fits = tangents[i].defined() && tangents[i].type() == inputs[i].type();
  if (fits) return;
  std::string given, wanted;
  for (const Tensor& tangent : tangents)
    given += " " + (tangent.defined() ? text(tangent.type()) : "undefined");
  for (const Tensor& input : inputs)
    wanted += " " + text(input.type());
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", name,
       ": expected a tangent of each input's type,", wanted, ", got", given);
}

Function of_one(TensorMap fn) {
  return [fn = std::move(fn)](const std::vector<Tensor>& inputs) { return fn(inputs.at(0)); };
}

int64_t element_count_of(const Tensor& x, const char* name, const Loc& loc) {
  const Dim count = x.numel(loc);
  if (count.is_known()) return count.value();
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", name, ": the size of ", x.type(),
       " is open while the function is traced, but each of its elements takes a pass; fix its "
       "sizes");
}

// One at element `index` of zeros like x.
Tensor unit_at(const Tensor& x, int64_t index, int64_t count, const Loc& loc) {
  const Tensor flat = (arange(count) == index).to(x.dtype(), loc);
  return flat.reshape(x.shape(loc), loc);
}

Dims joined_shape(const Tensor& a, const Tensor& b, const Loc& loc) {
  Dims shape = a.shape(loc);
  const Dims inner = b.shape(loc);
  shape.insert(shape.end(), inner.begin(), inner.end());
  return shape;
}

// Slices of one tensor for each row, adjacent as [rows' shape..., x's shape...].
Tensor stacked_rows(const std::vector<Tensor>& rows, const Tensor& of, const Tensor& x,
                    const Loc& loc) {
  if (rows.empty()) return zeros(joined_shape(of, x, loc), {.dtype = x.dtype()}, loc);
  return stack(rows, 0, loc).reshape(joined_shape(of, x, loc), loc);
}

// By each input, of a value that is recorded already.
std::vector<Tensor> jacobians(const Tensor& value, const Arguments& arguments, bool create_graph,
                              const char* name, const Loc& loc) {
  const int64_t count = element_count_of(value, name, loc);
  std::vector<std::vector<Tensor>> rows(arguments.own.size());
  for (int64_t i = 0; i < count; ++i) {
    const Tensor unit = unit_at(value, i, count, loc);
    const auto found = pulled_back(value, arguments.own, unit, create_graph, loc);
    for (size_t k = 0; k < rows.size(); ++k)
      rows[k].push_back(found[k]);
  }
  std::vector<Tensor> made;
  for (size_t k = 0; k < rows.size(); ++k)
    made.push_back(stacked_rows(rows[k], value, arguments.own[k], loc));
  return made;
}

}  // namespace

std::pair<Tensor, Tensor> jvp(const Function& fn, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& tangents, Loc loc) {
  check_tangents(inputs, tangents, "jvp", loc);
  const Arguments arguments(inputs);
  const EnableGrad enable_grad;
  const Tensor value = value_at(fn, arguments.own, "jvp", loc);
  const Tensor weight = zeros_like(value, loc).detach().set_requires_grad();
  const auto pulled = pulled_back(value, arguments.own, weight, true, loc);
  Tensor total;
  for (size_t i = 0; i < pulled.size(); ++i) {
    const Tensor product = mul({pulled[i], loc}, tangents[i]).sum({}, false, loc);
    total = total.defined() ? add({total, loc}, product) : product;
  }
  Tensor moved = zeros_like(value, loc);
  if (total.defined() && total.impl()->tracked()) {
    moved = or_zeros(grad({total}, {weight},
                          {.create_graph = arguments.outer,
                           .retain_graph = arguments.outer,
                           .allow_unused = true},
                          loc)[0],
                     value, loc);
  }
  return {arguments.finished(value), arguments.finished(moved)};
}

std::pair<Tensor, Tensor> jvp(const TensorMap& fn, const Tensor& x, const Tensor& tangent,
                              Loc loc) {
  return jvp(of_one(fn), {x}, {tangent}, loc);
}

std::pair<Tensor, Pullback> vjp(const Function& fn, const std::vector<Tensor>& inputs, Loc loc) {
  const Arguments arguments(inputs);
  const EnableGrad enable_grad;
  const Tensor value = value_at(fn, arguments.own, "vjp", loc);
  const Pullback pull = [=](const Tensor& v) {
    return pulled_back(value, arguments.own, v, arguments.outer, loc);
  };
  return {arguments.finished(value), pull};
}

std::function<std::vector<Tensor>(const std::vector<Tensor>&)> jacrev(Function fn) {
  return [fn = std::move(fn)](const std::vector<Tensor>& inputs) {
    const Loc loc = Loc::current();
    const Arguments arguments(inputs);
    const EnableGrad enable_grad;
    const Tensor value = value_at(fn, arguments.own, "jacrev", loc);
    std::vector<Tensor> found = jacobians(value, arguments, arguments.outer, "jacrev", loc);
    for (Tensor& one : found)
      one = arguments.finished(one);
    return found;
  };
}
TensorMap jacrev(TensorMap fn) {
  return [all = jacrev(of_one(std::move(fn)))](const Tensor& x) { return all({x})[0]; };
}

std::function<std::vector<Tensor>(const std::vector<Tensor>&)> jacfwd(Function fn) {
  return [fn = std::move(fn)](const std::vector<Tensor>& inputs) {
    const Loc loc = Loc::current();
    std::vector<Tensor> made;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int64_t count = element_count_of(inputs[k], "jacfwd", loc);
      std::vector<Tensor> columns, tangents;
      for (const Tensor& input : inputs)
        tangents.push_back(zeros_like(input, loc));
      for (int64_t i = 0; i < count; ++i) {
        tangents[k] = unit_at(inputs[k], i, count, loc);
        columns.push_back(jvp(fn, inputs, tangents, loc).second);
      }
      if (columns.empty()) {
        const Tensor value = value_at(fn, inputs, "jacfwd", loc);
        made.push_back(stacked_rows({}, value, inputs[k], loc));
        continue;
      }
      const Dims shape = joined_shape(columns[0], inputs[k], loc);
      made.push_back(stack(columns, -1, loc).reshape(shape, loc));
    }
    return made;
  };
}
TensorMap jacfwd(TensorMap fn) {
  return [all = jacfwd(of_one(std::move(fn)))](const Tensor& x) { return all({x})[0]; };
}

std::function<std::vector<std::vector<Tensor>>(const std::vector<Tensor>&)> hessian(Function fn) {
  return [fn = std::move(fn)](const std::vector<Tensor>& inputs) {
    const Loc loc = Loc::current();
    const Arguments arguments(inputs);
    const EnableGrad enable_grad;
    const Tensor value = value_at(fn, arguments.own, "hessian", loc);
    if (!(value.numel(loc) == 1)) {
      fail(ErrorCode::kInvalidArgument, text_of(loc),
           ": hessian: expected a function that gives one number, got ", value.type());
    }
    const Tensor one = ones_like(value, loc);
    const auto gradients = pulled_back(value, arguments.own, one, true, loc);
    std::vector<std::vector<Tensor>> made;
    for (const Tensor& gradient : gradients) {
      made.push_back(jacobians(gradient, arguments, arguments.outer, "hessian", loc));
      for (Tensor& block : made.back())
        block = arguments.finished(block);
    }
    return made;
  };
}
TensorMap hessian(TensorMap fn) {
  return [all = hessian(of_one(std::move(fn)))](const Tensor& x) { return all({x})[0][0]; };
}

std::vector<Tensor> hvp(const Function& fn, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& tangents, Loc loc) {
  check_tangents(inputs, tangents, "hvp", loc);
  const Arguments arguments(inputs);
  const EnableGrad enable_grad;
  const Tensor value = value_at(fn, arguments.own, "hvp", loc);
  const auto gradients = pulled_back(value, arguments.own, ones_like(value, loc), true, loc);
  Tensor total;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor product = mul({gradients[i], loc}, tangents[i]).sum({}, false, loc);
    total = total.defined() ? add({total, loc}, product) : product;
  }
  std::vector<Tensor> found =
      pulled_back(total, arguments.own, ones_like(total, loc), arguments.outer, loc);
  for (Tensor& one : found)
    one = arguments.finished(one);
  return found;
}

namespace {

// The axis of each argument, counted from the front; -1: shared.
std::vector<int64_t> batch_axes(const std::vector<Tensor>& inputs, const VmapOptions& options,
                                const Loc& loc) {
  std::vector<std::optional<int64_t>> wanted = options.in_axes;
  if (wanted.empty()) wanted.assign(inputs.size(), 0);
  if (wanted.size() != inputs.size()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": vmap: expected ", wanted.size(),
         " arguments, as in_axes has, got ", inputs.size());
  }
  std::vector<int64_t> axes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!wanted[i]) {
      axes.push_back(-1);
      continue;
    }
    const auto rank = static_cast<int64_t>(inputs[i].rank());
    if (*wanted[i] < -rank || *wanted[i] >= rank) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": vmap: argument ", i,
           ": expected an axis within [", -rank, ", ", rank, ") of ", inputs[i].type(), ", got ",
           *wanted[i]);
    }
    axes.push_back(*wanted[i] < 0 ? *wanted[i] + rank : *wanted[i]);
  }
  if (std::ranges::all_of(axes, [](int64_t axis) { return axis < 0; })) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": vmap: expected an argument with a batch axis, all are shared");
  }
  return axes;
}

// The axes of x with `from` at `to`.
Tensor with_axis_at(const Tensor& x, int64_t from, int64_t to, const Loc& loc) {
  if (from == to) return x;
  std::vector<int64_t> order;
  for (int64_t axis = 0; axis < static_cast<int64_t>(x.rank()); ++axis) {
    if (axis != from) order.push_back(axis);
  }
  order.insert(order.begin() + static_cast<ptrdiff_t>(to), from);
  return x.permute(order, loc);
}

}  // namespace

TensorsMap vmap(TensorsMap fn, VmapOptions options) {
  return [fn = std::move(fn), options = std::move(options)](const std::vector<Tensor>& inputs) {
    const Loc loc = Loc::current();
    const std::vector<int64_t> axes = batch_axes(inputs, options, loc);
    std::vector<Tensor> batched;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (axes[i] >= 0) batched.push_back(with_axis_at(inputs[i], axes[i], 0, loc));
    }
    const ScanBody body = [&](const std::vector<Tensor>&, const std::vector<Tensor>& slices) {
      std::vector<Tensor> sample = inputs;
      size_t next = 0;
      for (size_t i = 0; i < sample.size(); ++i) {
        if (axes[i] >= 0) sample[i] = slices[next++];
      }
      return ScanResult{{}, fn(sample)};
    };
    std::vector<Tensor> outputs = scan(body, {}, batched, loc).outputs;
    for (Tensor& output : outputs) {
      const auto rank = static_cast<int64_t>(output.rank());
      const int64_t to = options.out_axis < 0 ? options.out_axis + rank : options.out_axis;
      if (to < 0 || to >= rank) {
        fail(ErrorCode::kInvalidArgument, text_of(loc), ": vmap: expected out_axis within [", -rank,
             ", ", rank, ") of ", output.type(), ", got ", options.out_axis);
      }
      output = with_axis_at(output, 0, to, loc);
    }
    return outputs;
  };
}

TensorMap vmap(TensorMap fn, VmapOptions options) {
  const TensorsMap one = [fn = std::move(fn)](const std::vector<Tensor>& inputs) {
    return std::vector{fn(inputs.at(0))};
  };
  return [all = vmap(one, std::move(options))](const Tensor& x) { return all({x})[0]; };
}

}  // namespace sardonyx::eager
