#include "eager/distributed/sharded_optimizer.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <numeric>
#include <sstream>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/distributed/collective_ops.h"
#include "eager/tensor_impl.h"
#include "eager/trace/frame.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager::distributed {
namespace {

constexpr int64_t kExchangedAtOnce = int64_t{25} << 20;  // bytes, as gradients are

// Kernels take the last elements of a tensor, which fill no vector, one by one, and may round them
// in another way: parts begin where vectors do, so that each element is where it would be.
constexpr int64_t kAligned = 64;

std::vector<int64_t> counts_of(const std::vector<Tensor>& tensors) {
  std::vector<int64_t> counts;
  for (const Tensor& tensor : tensors)
    counts.push_back(tensor.data().count());
  return counts;
}

bool is_whole(const ParameterPart& part, const Tensor& parameter) {
  return part.begin == 0 && part.end == parameter.data().count();
}

// Shares the elements. What is split is seen as a row of elements.
Tensor view_of(const Tensor& values, const ParameterPart& part) {
  const sardonyx::Tensor& all = values.data();
  if (part.begin == 0 && part.end == all.count()) return Tensor(all);
  return Tensor(all.reshaped({all.count()}).slice(part.begin, part.end));
}

// The same in a trace.
Tensor recorded_view_of(const Tensor& values, const ParameterPart& part, int64_t count) {
  if (part.begin == 0 && part.end == count) return values;
  return values.reshape({count}).slice(0, {part.begin, part.end});
}

std::byte* bytes_at(const sardonyx::Tensor& tensor, int64_t element) {
  return static_cast<std::byte*>(tensor.raw()) + bytes_for(tensor.dtype(), element);
}

// "state.3.exp_avg[0:4096]" taken apart.
struct ShareName {
  std::string base;  // "state.3.exp_avg"
  int64_t begin = 0, end = -1;
  size_t parameter = 0;
  bool is_state = false, is_part = false;
};

ShareName parsed(const std::string& name) {
  ShareName found{.base = name};
  constexpr std::string_view kState = "state.";
  const size_t bracket = name.rfind('[');
  const char* const last = name.data() + name.size();
  if (bracket != std::string::npos && name.ends_with(']')) {
    const auto begin = std::from_chars(name.data() + bracket + 1, last, found.begin);
    if (begin.ec == std::errc() && *begin.ptr == ':') {
      const auto end = std::from_chars(begin.ptr + 1, last, found.end);
      found.is_part = end.ec == std::errc() && end.ptr + 1 == last;
    }
    if (found.is_part) found.base = name.substr(0, bracket);
  }
  if (name.starts_with(kState)) {
    const auto number = std::from_chars(name.data() + kState.size(), last, found.parameter);
    found.is_state = number.ec == std::errc() && *number.ptr == '.';
  }
  return found;
}

[[noreturn]] void refuse_share(const std::string& name, const std::string& why) {
  fail(ErrorCode::kInvalidArgument, "ShardedOptimizer: '", name, "' ", why,
       "; a share is what own_state_dict() gave for the same parameters");
}

ShareName checked_name(const std::string& name, const Tensor& value,
                       const std::vector<int64_t>& counts) {
  const ShareName part = parsed(name);
  if (!part.is_part) return part;
  if (!part.is_state || part.parameter >= counts.size() || part.begin < 0 ||
      part.begin >= part.end || part.end > counts[part.parameter])
    refuse_share(name, "is no part of a state of these parameters");
  if (value.data().count() != part.end - part.begin)
    refuse_share(name, text("has ", value.data().count(), " elements"));
  return part;
}

}  // namespace

std::vector<std::vector<ParameterPart>> divide_among_ranks(const std::vector<int64_t>& counts,
                                                           int ranks, bool may_split) {
  std::vector<std::vector<ParameterPart>> parts(static_cast<size_t>(ranks));
  if (may_split) {
    const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    int64_t begin = 0;  // of the parameter, among all elements
    for (size_t p = 0; p < counts.size(); begin += counts[p++]) {
      const auto cut = [&](int64_t rank) {  // where the rank's part of this parameter begins
        const int64_t wanted = total / ranks * rank + std::min(rank, total % ranks) - begin;
        return wanted >= counts[p] ? counts[p] : std::max<int64_t>(wanted, 0) / kAligned * kAligned;
      };
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const int64_t from = cut(rank), to = cut(rank + 1);
        if (from < to) parts[static_cast<size_t>(rank)].push_back({p, from, to});
      }
    }
    return parts;
  }
  std::vector<size_t> by_size(counts.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::ranges::stable_sort(by_size, [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  std::vector<int64_t> loads(static_cast<size_t>(ranks));
  for (const size_t p : by_size) {
    const auto least = static_cast<size_t>(std::ranges::min_element(loads) - loads.begin());
    loads[least] += counts[p];
    if (counts[p] > 0) parts[least].push_back({p, 0, counts[p]});
  }
  for (std::vector<ParameterPart>& of_rank : parts)
    std::ranges::sort(of_rank, {}, &ParameterPart::parameter);
  return parts;
}

nn::StateDict merged_shares(const std::vector<Tensor>& parameters, size_t count,
                            const std::function<nn::StateDict(size_t)>& share) {
  const std::vector<int64_t> counts = counts_of(parameters);
  nn::StateDict merged;
  std::map<std::string, int64_t> present;  // elements, of states that come in parts
  for (size_t i = 0; i < count; ++i) {
    for (const auto& [name, value] : share(i)) {
      const ShareName part = checked_name(name, value, counts);
      if (!part.is_part) {
        merged[name] = value;
        continue;
      }
      Tensor& whole = merged[part.base];
      if (!whole.defined()) {
        whole = Tensor(
            sardonyx::Tensor::allocate(value.dtype(), parameters[part.parameter].data().shape()));
      }
      if (whole.dtype() != value.dtype()) refuse_share(name, text("is of type ", value.dtype()));
      std::memcpy(bytes_at(whole.data(), part.begin), value.data().raw(), value.data().bytes());
      present[part.base] += value.data().count();
    }
  }
  for (const auto& [name, elements] : present) {
    if (elements != merged.at(name).data().count())
      refuse_share(name, "is not complete: a share is missing");
  }
  return merged;
}

// A state of the optimiser of this rank's parts, and where it stands among those of all.
struct ShardedOptimizer::OwnState {
  std::string own_name, name;  // name: without a range
  Tensor tensor;
  ParameterPart part;
  bool is_part = false;
  std::string share_name() const {
    return is_part ? text(name, "[", part.begin, ":", part.end, "]") : name;
  }
};

ShardedOptimizer::ShardedOptimizer(const std::vector<Tensor>& parameters, ProcessGroup group,
                                   Maker make)
    : Optimizer("ShardedOptimizer"), group_(std::move(group)), all_(parameters) {
  // What has no elements of a split parameter still needs an optimiser, for its learning rate.
  const std::shared_ptr<optim::Optimizer> probe = make({zeros({1})});
  if (!probe || probe->group_count() != 1) {
    fail(ErrorCode::kInvalidArgument,
         "ShardedOptimizer: expected an optimiser with one group; make one for each group");
  }
  add_group_without_states(parameters, probe->lr());
  parts_ = divide_among_ranks(counts_of(parameters), group_.size(), probe->is_elementwise());
  for (const ParameterPart& part : parts_[static_cast<size_t>(group_.rank())])
    leaves_.push_back(view_of(parameters[part.parameter], part));
  own_ = leaves_.empty() ? probe : make(leaves_);
}

std::vector<ShardedOptimizer::OwnState> ShardedOptimizer::own_states() const {
  const std::vector<ParameterPart>& parts = parts_[static_cast<size_t>(group_.rank())];
  std::vector<OwnState> states;
  for (const auto& [own_name, tensor] : own_->named_states()) {
    const ShareName name = parsed(own_name);
    if (!name.is_state) {
      states.push_back({own_name, own_name, tensor, {}, false});
      continue;
    }
    if (leaves_.empty()) continue;
    const ParameterPart& part = parts.at(name.parameter);
    const std::string what = own_name.substr(own_name.find('.', 6));
    const bool is_part = !is_whole(part, all_[part.parameter]) && tensor.rank() > 0;
    states.push_back({own_name, text("state.", part.parameter, what), tensor, part, is_part});
  }
  return states;
}

size_t ShardedOptimizer::own_state_bytes() const {
  size_t bytes = 0;
  for (const OwnState& state : own_states())
    bytes += state.tensor.data().bytes();
  return bytes;
}

nn::StateDict ShardedOptimizer::own_state_dict() const {
  own_->set_lr(lr());
  nn::StateDict states;
  for (const OwnState& state : own_states())
    states[state.share_name()] = state.tensor.detach();
  return states;
}

nn::StateDict ShardedOptimizer::state_dict() const {
  const nn::StateDict own = own_state_dict();
  // Names, types and shapes of all, then the values of one rank after the other.
  std::string header;
  for (const auto& [name, tensor] : own) {
    header += text(name, ' ', static_cast<int>(tensor.dtype()));
    for (const int64_t dim : tensor.data().shape())
      header += text(' ', dim);
    header += '\n';
  }
  const std::vector<std::string> headers = group_.all_gather(header);
  return merged_shares(all_, headers.size(), [&](size_t rank) {
    nn::StateDict share;
    std::istringstream lines(headers[rank]);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name;
      int dtype = 0;
      words >> name >> dtype;
      sardonyx::Shape shape;
      for (int64_t dim; words >> dim;)
        shape.push_back(dim);
      const bool is_own = static_cast<int>(rank) == group_.rank();
      sardonyx::Tensor value = is_own
                                   ? own.at(name).data().clone()
                                   : sardonyx::Tensor::allocate(static_cast<DType>(dtype), shape);
      group_.broadcast_memory({static_cast<std::byte*>(value.raw()), value.bytes()},
                              static_cast<int>(rank));
      share[name] = Tensor(value);
    }
    return share;
  });
}

void ShardedOptimizer::load_state_dict(const nn::StateDict& state) {
  for (const auto& [name, value] : state) {
    if (parsed(name).is_part) refuse_share(name, "is a part of a state; load_shares() takes these");
  }
  load_shares(1, [&](size_t) { return state; });
}

void ShardedOptimizer::load_shares(size_t count,
                                   const std::function<nn::StateDict(size_t)>& share) {
  const std::vector<int64_t> counts = counts_of(all_);
  const std::vector<OwnState> own = own_states();
  nn::StateDict loaded;
  std::map<std::string, int64_t> present;
  for (size_t i = 0; i < count; ++i) {
    // By name without range: what this share has of it.
    std::map<std::string, std::vector<std::pair<ShareName, Tensor>>> pieces;
    for (const auto& [name, value] : share(i)) {
      const ShareName part = checked_name(name, value, counts);
      if (part.is_state && part.parameter >= counts.size())
        refuse_share(name, text("is of a parameter beyond the ", counts.size(), " that there are"));
      pieces[part.base].emplace_back(part, value);
    }
    for (const OwnState& state : own) {
      const auto found = pieces.find(state.name);
      if (found == pieces.end()) continue;
      const sardonyx::Tensor& like = state.tensor.data();
      Tensor& target = loaded[state.own_name];
      if (!target.defined())
        target = Tensor(sardonyx::Tensor::allocate(like.dtype(), like.shape()));
      for (const auto& [piece, value] : found->second) {
        if (value.dtype() != like.dtype())
          refuse_share(state.name, text("is of type ", value.dtype(), ", expected ", like.dtype()));
        const bool is_like_parameter = like.rank() > 0 || piece.is_part;
        const int64_t size =
            is_like_parameter && piece.is_state ? counts[piece.parameter] : like.count();
        const int64_t begin = piece.is_part ? piece.begin : 0;
        const int64_t end = piece.is_part ? piece.end : value.data().count();
        if (!piece.is_part && end != size)
          refuse_share(state.name, text("has ", end, " elements, expected ", size));
        const int64_t own_begin = state.is_part ? state.part.begin : 0;
        const int64_t from = std::max(begin, own_begin);
        const int64_t to = std::min(end, own_begin + like.count());
        if (from >= to) continue;
        std::memcpy(bytes_at(target.data(), from - own_begin), bytes_at(value.data(), from - begin),
                    bytes_for(like.dtype(), to - from));
        // Counts of updates stand in each share, and are the same in all of them.
        present[state.own_name] =
            piece.is_part ? present[state.own_name] + (to - from) : like.count();
      }
    }
  }
  for (const OwnState& state : own) {
    const bool may_be_missing = Optimizer::may_be_missing(state.own_name);
    if (present[state.own_name] != state.tensor.data().count() && !may_be_missing)
      refuse_share(state.name, "is missing, or not complete");
  }
  own_->load_state_dict(loaded);
  set_lr(own_->lr());
}

// Lets the own optimiser see what the parameters and their gradients are now. The elements are
// shared, so that nothing is kept twice.
void ShardedOptimizer::show_parts() const {
  const std::vector<ParameterPart>& parts = parts_[static_cast<size_t>(group_.rank())];
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& parameter = all_[parts[i].parameter];
    if (parameter.dtype() != leaves_[i].dtype()) {
      fail(ErrorCode::kInvalidArgument, "ShardedOptimizer: parameter ", parts[i].parameter,
           " was converted to ", parameter.dtype(), " after the optimiser was made; make it anew");
    }
    leaves_[i].assign(view_of(parameter, parts[i]));
    const Tensor gradient = parameter.grad();
    leaves_[i].set_grad(gradient.defined() ? view_of(gradient, parts[i]) : Tensor());
  }
}

Tensor ShardedOptimizer::step_all(const optim::Closure* closure, const Loc& loc) {
  const CollectivePlace place = collective_place("ShardedOptimizer");
  if (place == CollectivePlace::kLeftOut) {
    fail(ErrorCode::kUnsupported, text_of(loc),
         ": ShardedOptimizer: a file can't hold what other ranks update; export the step with the "
         "optimiser itself");
  }
  Tensor loss;
  if (closure) {
    const EnableGrad enable_grad;
    loss = (*closure)();
  }
  const NoGrad no_grad;
  const bool is_recorded = place == CollectivePlace::kInGraph;
  is_recorded ? record_parts() : show_parts();
  own_->lr_tensor().assign(lr_tensor());
  if (condition().defined())
    own_->step_where(condition(), loc);
  else
    own_->step(loc);
  for (const Tensor& leaf : leaves_)
    leaf.zero_grad();
  exchange_parts(is_recorded);
  if (is_recorded) return loss;
  show_parts();
  for (const Tensor& leaf : leaves_)
    leaf.zero_grad();
  return loss;
}

void ShardedOptimizer::record_parts() const {
  const std::vector<ParameterPart>& parts = parts_[static_cast<size_t>(group_.rank())];
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& parameter = all_[parts[i].parameter];
    const int64_t count = element_count(*known_shape(parameter.shape()));
    leaves_[i].assign(recorded_view_of(parameter, parts[i], count));
    const Tensor gradient = parameter.grad();
    leaves_[i].set_grad(gradient.defined() ? recorded_view_of(gradient, parts[i], count)
                                           : Tensor());
    const Tensor presence = eager::detail::gradient_presence(*parameter.impl());
    if (presence.defined())
      eager::detail::keep_gradient_where(*leaves_[i].impl(), presence, leaves_[i].grad());
  }
}

void ShardedOptimizer::exchange_parts(bool is_recorded) const {
  size_t first = 0;
  int64_t bytes = 0;
  for (size_t p = 0; p < all_.size(); ++p) {
    const Shape shape = *known_shape(all_[p].shape());
    bytes += static_cast<int64_t>(bytes_for(all_[p].dtype(), element_count(shape)));
    if (bytes < kExchangedAtOnce && p + 1 < all_.size()) continue;
    is_recorded ? record_exchange(first, p + 1) : exchange(first, p + 1);
    first = p + 1;
    bytes = 0;
  }
}

namespace {

// A part of one of the tensors that are exchanged, and who sends it.
struct SentPart {
  size_t rank = 0;
  ParameterPart part;  // of a tensor by its place among those exchanged
};

// Every rank sends its parts to all. `own`: the elements of this rank's, in order.
void exchange_memory(const ProcessGroup& group, const std::vector<SentPart>& parts,
                     const std::vector<const void*>& own,
                     const std::vector<sardonyx::Tensor>& into) {
  for (size_t rank = 0; rank < static_cast<size_t>(group.size()); ++rank) {
    const bool is_own = static_cast<int>(rank) == group.rank();
    std::vector<std::span<std::byte>> places;
    for (const auto& [from, part] : parts) {
      const sardonyx::Tensor& whole = into[part.parameter];
      if (from == rank) places.emplace_back(bytes_at(whole, part.begin), bytes_at(whole, part.end));
    }
    std::vector<std::byte> packed;
    for (size_t i = 0; i < places.size(); ++i) {
      if (is_own) std::memcpy(places[i].data(), own[i], places[i].size());
      packed.insert(packed.end(), places[i].begin(), places[i].end());
    }
    group.broadcast_memory(packed, static_cast<int>(rank));
    const std::byte* from = packed.data();
    for (const std::span<std::byte>& place : places) {
      if (!is_own) std::memcpy(place.data(), from, place.size());
      from += place.size();
    }
  }
}

// Attribute "parts": rank, tensor, begin and end of each.
void exchange_in_graph(const EvalCall& call) {
  std::vector<sardonyx::Tensor> into;
  const auto types = required_attribute<std::vector<Type>>(call, "types");
  for (size_t i = 0; i < types.size(); ++i)
    into.push_back(call.tensor(i, types[i].dtype, *types[i].known_shape()));
  const auto numbers = required_attribute<std::vector<int64_t>>(call, "parts");
  std::vector<SentPart> parts;
  for (size_t at = 0; at + 3 < numbers.size(); at += 4) {
    parts.push_back({static_cast<size_t>(numbers[at]),
                     {static_cast<size_t>(numbers[at + 1]), numbers[at + 2], numbers[at + 3]}});
  }
  std::vector<const void*> own;
  for (size_t i = 0; i < call.inputs.size(); ++i)
    own.push_back(call.inputs[i].tensor().raw());
  exchange_memory(ProcessGroup::world(), parts, own, into);
}

}  // namespace

// Parameters [first, last).
void ShardedOptimizer::exchange(size_t first, size_t last) const {
  std::vector<sardonyx::Tensor> next;
  for (size_t p = first; p < last; ++p)
    next.push_back(sardonyx::Tensor::allocate(all_[p].dtype(), all_[p].data().shape()));
  std::vector<SentPart> parts;
  std::vector<const void*> own;
  for (size_t rank = 0; rank < parts_.size(); ++rank) {
    for (size_t i = 0; i < parts_[rank].size(); ++i) {
      ParameterPart part = parts_[rank][i];
      if (part.parameter < first || part.parameter >= last) continue;
      part.parameter -= first;
      parts.push_back({rank, part});
      if (static_cast<int>(rank) == group_.rank()) own.push_back(leaves_[i].data().raw());
    }
  }
  exchange_memory(group_, parts, own, next);
  for (size_t p = first; p < last; ++p)
    all_[p].assign(Tensor(next[p - first]));
}

// The same as an op.
void ShardedOptimizer::record_exchange(size_t first, size_t last) const {
  [[maybe_unused]] static const OpDef& row = []() -> const OpDef& {
    CustomOp op = collective_op("ExchangeParts", "(parts...0: T*) -> (parameters...: T*)");
    op.attributes = {required_ints("parts"), required_types()};
    op.compute = exchange_in_graph;
    op.infer = infer_given_types;
    return register_custom_op(std::move(op));
  }();
  std::vector<Type> types;
  for (size_t p = first; p < last; ++p)
    types.push_back(all_[p].type());
  std::vector<int64_t> numbers;
  std::vector<Tensor> own;
  for (size_t rank = 0; rank < parts_.size(); ++rank) {
    for (size_t i = 0; i < parts_[rank].size(); ++i) {
      const auto& [parameter, begin, end] = parts_[rank][i];
      if (parameter < first || parameter >= last) continue;
      numbers.insert(numbers.end(), {static_cast<int64_t>(rank),
                                     static_cast<int64_t>(parameter - first), begin, end});
      if (static_cast<int>(rank) == group_.rank()) own.push_back(leaves_[i]);
    }
  }
  const std::vector<Tensor> next = recorded_call(last - first, "ExchangeParts", own,
                                                 {{"parts", numbers}, {"types", std::move(types)}});
  for (size_t p = first; p < last; ++p)
    all_[p].assign(next[p - first]);
}

}  // namespace sardonyx::eager::distributed
