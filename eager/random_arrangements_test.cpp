// Steps of random programs that move, pick and join elements.
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/random_programs_for_test.h"

namespace sardonyx::eager::programs {
namespace {

// Places along an axis, of a's shape and within its size.
Tensor places_in(T a, int64_t axis) {
  return remainder((as_float(a) * 3).to(DType::kInt64), dim_tensor(a.size(axis)));
}

}  // namespace

std::vector<Op> arrangement_steps() {
  return {
      {"reshape",
       [](W, S, T a, T) {
         return a.reshape({a.size(0), -1});
       }},
      {"flatten", [](W, S, T a, T) { return a.flatten(); }},
      {"unsqueeze", [](W, S s, T a, T) { return a.unsqueeze(axis_of(s, a)); }},
      {"squeeze", [](W, S s, T a, T) { return a.squeeze({axis_of(s, a)}); }},
      {"transpose", [](W, S s, T a, T) { return a.transpose(0, axis_of(s, a)); }},
      {"slice",
       [](W, S s, T a, T) {
         return a.slice(axis_of(s, a), {s.k % 2, {}, s.k % 3 + 1});
       }},
      {"reverse",
       [](W, S s, T a, T) {
         return a.slice(axis_of(s, a), {{}, {}, -1});
       }},
      {"select", [](W, S s, T a, T) { return a.select(axis_of(s, a), -1); }},
      {"index",
       [](W, S, T a, T) {
         return a.index({Ellipsis{}, NewAxis{}, 0});
       }},
      {"mask", [](W, S, T a, T) { return a.index({a > 0}).sum(); }, kJumps},
      {"index_put", [](W, S, T a, T) { return a.index_put({0}, a[-1]); }},
      {"cat",
       [](W, S s, T a, T b) {
         return cat({a, b}, axis_of(s, a));
       },
       kTwo},
      {"stack",
       [](W, S s, T a, T b) {
         return stack({a, b, a}, axis_of(s, a));
       },
       kTwo},
      {"chunk", [](W, S s, T a, T) { return chunk(a, 2, axis_of(s, a))[0]; }},
      {"split",
       [](W, S, T a, T) {
         return split(a, {1, a.size(0) - 1})[1];
       }},
      {"pad",
       [](W, S s, T a, T) {
         return pad(a, {1, s.k % 2});
       }},
      {"tile", [](W, S, T a, T) { return tile(a, Dims(a.rank(), 2)); }},
      {"expand",
       [](W, S, T a, T) {
         Dims shape = a.shape();
         shape.insert(shape.begin(), 2);
         return a.expand(shape);
       }},
      {"size", [](W, S, T a, T) { return a + dim_tensor(a.size(0)).to(DType::kFloat); }},
      {"branch on size",
       [](W, S s, T a, T) { return a.size(0) == s.k ? a * 2
                                   : a.size(0) > 3  ? a + 1
                                                    : a; }},
      {"unflatten",
       [](W, S, T a, T) {
         return a.unflatten(-1, {-1, 2});
       }},
      {"movedim", [](W, S s, T a, T) { return movedim(a, 0, axis_of(s, a)); }},
      {"flip", [](W, S s, T a, T) { return flip(a, axis_of(s, a)); }},
      {"roll", [](W, S s, T a, T) { return roll(a, s.k - 2, axis_of(s, a)); }},
      {"rot90", [](W, S s, T a, T) { return rot90(a, s.k, 0, 1); }},
      {"repeat",
       [](W, S, T a, T) { return repeat(a, IntList(std::vector<int64_t>(a.rank(), 2))); }},
      {"repeat_interleave",
       [](W, S s, T a, T) { return repeat_interleave(a, 1 + s.k % 2, axis_of(s, a)); }},
      {"narrow", [](W, S, T a, T) { return narrow(a, 0, 1, a.size(0) - 1); }},
      {"first half",
       [](W, S, T a, T) {
         return a.slice(0, {0, floor_div(a.size(0), 2) + 1});
       }},
      {"circular pad",
       [](W, S, T a, T) {
         return pad(a, {1, 0}, "circular");
       }},
      {"edge pad",
       [](W, S s, T a, T) {
         return pad(a, {s.k % 3, 1}, s.k % 2 ? "reflect" : "replicate");
       }},
      {"hstack",
       [](W, S, T a, T b) {
         return hstack({a, b});
       },
       kTwo},
      {"vstack",
       [](W, S, T a, T b) {
         return vstack({a, b});
       },
       kTwo},
      {"meshgrid",
       [](W, S, T a, T) {
         const Tensors grids = meshgrid({a.sum({-1}).flatten(), a.flatten()});
         return grids[0] + grids[1];
       }},
      {"diagonal", [](W, S s, T a, T) { return diagonal(a, s.k % 3 - 1); }},
      {"diag_embed", [](W, S, T a, T) { return diag_embed(a); }},
      {"zeros of the size",
       [](W, S, T a, T) {
         return zeros({a.size(0), 1}) + a;
       }},
      {"arange of the size", [](W, S, T a, T) { return arange(a.size(-1)) + a; }},
      {"full_like", [](W, S, T a, T) { return full_like(a, 2) - a; }},
      {"expand_as", [](W, S, T a, T b) { return a.sum().expand_as(b) + b; }, kTwo},
      {"all of topk", [](W, S, T a, T) { return topk(a, a.size(0), 0).first; }},
      {"index_select",
       [](W, S s, T a, T) {
         return index_select(a, axis_of(s, a), tensor<int64_t>({0, -1, 0}));
       }},
      {"gather",
       [](W, S s, T a, T) { return gather(a, axis_of(s, a), (a > 0).to(DType::kInt64) - 1); },
       kJumps},
      {"one_hot", [](W, S, T a, T) { return one_hot((a > 0).to(DType::kInt64), 3); }, kJumps},
      {"tril", [](W, S s, T a, T) { return tril(a, s.k % 3 - 1); }},
      {"scatter",
       [](W, S s, T a, T) {
         const int64_t axis = axis_of(s, a);
         return scatter(a, axis, argsort(a, axis), a * 2);
       },
       kJumps},
      {"scatter_add",
       [](W, S s, T a, T) {
         const int64_t axis = axis_of(s, a);
         return scatter_add(a, axis, places_in(a, axis), a * 2);
       },
       kJumps},
      {"scatter_reduce",
       [](W, S s, T a, T) {
         constexpr const char* kWays[] = {"sum", "prod", "mean", "amax", "amin"};
         const int64_t axis = axis_of(s, a);
         const Tensor x = as_float(a);
         return scatter_reduce(x, axis, places_in(a, axis), x * 0.5, kWays[s.k % 5], s.k % 2 == 0);
       },
       kJumps},
      {"index_add",
       [](W, S s, T a, T) {
         const Tensor at = tensor<int64_t>({0, 0});
         const int64_t axis = axis_of(s, a);
         return index_add(a, axis, at, index_select(a, axis, tensor<int64_t>({0, -1})));
       }},
      {"index_copy",
       [](W, S s, T a, T) {
         const int64_t axis = axis_of(s, a);
         return index_copy(a, axis, tensor<int64_t>({0}),
                           index_select(a, axis, tensor<int64_t>({-1})));
       }},
      {"index_fill",
       [](W, S s, T a, T) { return index_fill(a, axis_of(s, a), tensor<int64_t>({0}), 0.5); }},
      {"index by rows",
       [](W, S, T a, T) {
         return a.index({tensor<int64_t>({-1, 0, 0})});
       }},
      {"index_put by a mask",
       [](W, S, T a, T) {
         const Tensor x = as_float(a);
         return x.index_put({x > 0}, ones({1}).to(x.dtype()));
       },
       kJumps},
      {"take",
       [](W, S, T a, T) {
         return take(a, tensor<int64_t>({0, -1}));
       }},
      {"take_along_dim",
       [](W, S s, T a, T) {
         const int64_t axis = axis_of(s, a);
         return take_along_dim(a, argsort(a, axis, true), axis);
       },
       kJumps},
      {"masked_select", [](W, S, T a, T b) { return masked_select(a, b > 0).sum(); },
       kJumps | kTwo},
      {"masked_scatter", [](W, S, T a, T) { return masked_scatter(a, a > 0, a.flatten() * 2); },
       kJumps},
      {"select_scatter", [](W, S, T a, T) { return select_scatter(a, a[-1] * 2, 0, 0); }},
      {"slice_scatter",
       [](W, S, T a, T) {
         return slice_scatter(a, a[-1] * 2, 0, {0, 2});
       }},
      {"nonzero", [](W, S, T a, T) { return nonzero(a > 0).to(DType::kFloat).sum(); }, kJumps},
  };
}

}  // namespace sardonyx::eager::programs
