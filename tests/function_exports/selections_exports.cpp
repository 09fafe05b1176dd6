// Elements picked and written by place, index and mask.
#include "eager/functional/functional.h"
#include "tests/function_exports/table.h"

namespace sardonyx::eager::exports {

std::vector<Function> selections() {
  const Tensor a = signed_numbers({2, 3, 4}), rows = tensor<int64_t>({2, 0, -1});
  const Tensor places = integers(0, 3, {2, 3, 4}), source = signed_numbers({2, 3, 4}, 3);
  const Tensors x{a}, picked{a, rows}, masked{a, a > 0};
  const Tensors written{a, places, source};
  const Tensors slices{a, tensor<int64_t>({2, 0}), signed_numbers({2, 2, 4}, 4)};
  return {
      {"slice", x, SARDONYX_OF(in[0].slice(1, {1, {}}))},
      {"slice from the end", x, SARDONYX_OF(in[0].slice(2, {-3, -1}))},
      {"slice by steps", x, SARDONYX_OF(in[0].slice(2, {0, {}, 2})), {10, "Slice"}},
      {"slice backwards", x, SARDONYX_OF(in[0].slice(2, {{}, {}, -1})), {10, "Slice"}},
      {"select", x, SARDONYX_OF(in[0].select(1, -1))},
      {"index", x, SARDONYX_OF(in[0].index({Ellipsis{}, NewAxis{}, 0}))},
      {"index by a tensor", picked, SARDONYX_OF(in[0].index({Slice{}, in[1]}))},
      {"index by two tensors",
       {signed_numbers({3, 4}), rows, rows},
       SARDONYX_OF(in[0].index({in[1], in[2]})),
       {11, "GatherND"}},
      {"index by a mask", masked, SARDONYX_OF(in[0].index({in[1]})), {11, "GatherND"}},
      {"index_put", x, SARDONYX_OF(in[0].index_put({0}, in[0][1] * 2))},
      {"index_put adding",
       picked,
       SARDONYX_OF(in[0].index_put({Slice{}, in[1]}, in[0].slice(1, {0, 1}), true)),
       {16, "ScatterElements"}},
      {"index_select", picked, SARDONYX_OF(index_select(in[0], 1, in[1]))},
      {"gather", written, SARDONYX_OF(gather(in[0], 1, in[1])), {11, "GatherElements"}},
      {"take", {a, places}, SARDONYX_OF(take(in[0], in[1]))},
      {"take_along_dim",
       written,
       SARDONYX_OF(take_along_dim(in[0], in[1], 1)),
       {11, "GatherElements"}},
      {"scatter", {a, argsort(a, 1), source}, SARDONYX_OF(scatter(in[0], 1, in[1], in[2]))},
      {"scatter of a number", {a, argsort(a, 1)}, SARDONYX_OF(scatter(in[0], 1, in[1], 2.0))},
      {"scatter_add",
       written,
       SARDONYX_OF(scatter_add(in[0], 1, in[1], in[2])),
       {16, "ScatterElements"}},
      {"scatter_reduce by sum",
       written,
       SARDONYX_OF(scatter_reduce(in[0], 1, in[1], in[2], "sum")),
       {16, "ScatterElements"}},
      {"scatter_reduce by prod",
       written,
       SARDONYX_OF(scatter_reduce(in[0], 1, in[1], in[2], "prod")),
       {16, "ScatterElements"}},
      {"scatter_reduce by mean",
       written,
       SARDONYX_OF(scatter_reduce(in[0], 1, in[1], in[2], "mean")),
       {16, "ScatterElements"}},
      {"scatter_reduce by amax",
       written,
       SARDONYX_OF(scatter_reduce(in[0], 1, in[1], in[2], "amax")),
       {18, "ScatterElements"}},
      {"scatter_reduce by amin",
       written,
       SARDONYX_OF(scatter_reduce(in[0], 1, in[1], in[2], "amin", false)),
       {18, "ScatterElements"}},
      {"index_copy", slices, SARDONYX_OF(index_copy(in[0], 1, in[1], in[2])), {11, "ScatterND"}},
      {"index_add", slices, SARDONYX_OF(index_add(in[0], 1, in[1], in[2], 0.5)), {16, "ScatterND"}},
      {"index_fill", slices, SARDONYX_OF(index_fill(in[0], 1, in[1], 9)), {10, "Mod"}},
      {"masked_fill", masked, SARDONYX_OF(masked_fill(in[0], in[1], -1.0))},
      {"masked_select", masked, SARDONYX_OF(masked_select(in[0], in[1]))},
      {"masked_scatter",
       {a, a > 0, source},
       SARDONYX_OF(masked_scatter(in[0], in[1], in[2])),
       {11, "CumSum"}},
      {"nonzero", masked, SARDONYX_OF(nonzero(in[1]))},
      {"argwhere", x, SARDONYX_OF(argwhere(relu(in[0])))},
      {"select_scatter", {a, a}, SARDONYX_OF(select_scatter(in[0], in[1][0] * 2, 0, 1))},
      {"slice_scatter",
       {a, source},
       SARDONYX_OF(slice_scatter(in[0], in[1].slice(1, {0, 2}), 1, {1, {}}))},
      {"diagonal_scatter",
       {signed_numbers({3, 3}), signed_numbers({3})},
       SARDONYX_OF(diagonal_scatter(in[0], in[1]))},
  };
}

}  // namespace sardonyx::eager::exports
