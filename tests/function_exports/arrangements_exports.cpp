// What moves, joins and repeats elements, and new tensors.
#include "eager/functional/functional.h"
#include "eager/functional/sampling.h"
#include "tests/function_exports/table.h"

namespace sardonyx::eager::exports {

std::vector<Function> arrangements() {
  const Tensor a = signed_numbers({2, 3, 4});
  const Tensors x{a}, two{a, signed_numbers({2, 3, 4}, 2)}, matrix{signed_numbers({3, 4})};
  const Tensors vector{signed_numbers({4})}, vectors{signed_numbers({3}), signed_numbers({4})};
  return {
      {"reshape", x, SARDONYX_OF(in[0].reshape({6, -1}))},
      {"flatten", x, SARDONYX_OF(in[0].flatten(1))},
      {"squeeze", {signed_numbers({2, 1, 3})}, SARDONYX_OF(in[0].squeeze({1}))},
      {"unsqueeze", x, SARDONYX_OF(in[0].unsqueeze(-1))},
      {"permute", x, SARDONYX_OF(in[0].permute({2, 0, 1}))},
      {"transpose", x, SARDONYX_OF(in[0].transpose(0, -1))},
      {"expand", {signed_numbers({3, 1})}, SARDONYX_OF(in[0].expand({2, 3, 4}))},
      {"expand keeping a size", x, SARDONYX_OF(in[0].expand({5, 2, -1, 4}))},
      {"movedim", x, SARDONYX_OF(movedim(in[0], {0}, {-1}))},
      {"swapaxes", x, SARDONYX_OF(swapaxes(in[0], 0, 1))},
      {"unflatten", x, SARDONYX_OF(unflatten(in[0], 2, {2, -1}))},
      {"flip", x, SARDONYX_OF(flip(in[0], {0, 2})), {10, "Slice"}},
      {"fliplr", x, SARDONYX_OF(fliplr(in[0])), {10, "Slice"}},
      {"flipud", x, SARDONYX_OF(flipud(in[0])), {10, "Slice"}},
      {"roll", x, SARDONYX_OF(roll(in[0], 2, 1))},
      {"roll of all", x, SARDONYX_OF(roll(in[0], 5))},
      {"rot90", x, SARDONYX_OF(rot90(in[0], 1, 0, 1)), {10, "Slice"}},
      {"repeat", x, SARDONYX_OF(repeat(in[0], {2, 1, 1, 3}))},
      {"repeat_interleave", x, SARDONYX_OF(repeat_interleave(in[0], 2, 1))},
      {"repeat_interleave by counts",
       {a, tensor<int64_t>({2, 0, 3})},
       SARDONYX_OF(repeat_interleave(in[0], in[1], 1)),
       {11, "CumSum"}},
      {"tile", x, SARDONYX_OF(tile(in[0], Dims{1, 2, 2}))},
      {"broadcast_to", vector, SARDONYX_OF(broadcast_to(in[0], {3, 4}))},
      {"meshgrid", vectors, SARDONYX_OF(meshgrid({in[0], in[1]}, "xy"))},
      {"unbind", x, SARDONYX_OF(unbind(in[0], 1))},
      {"narrow", x, SARDONYX_OF(narrow(in[0], 2, 1, 2))},
      {"split", x, SARDONYX_OF(split(in[0], 3, 2))},
      {"split by sizes", x, SARDONYX_OF(split(in[0], std::vector<int64_t>{1, 2}, 1))},
      {"chunk", x, SARDONYX_OF(chunk(in[0], 2, 2))},
      {"chunk with a rest", x, SARDONYX_OF(chunk(in[0], 2, 1))},
      {"tensor_split", x, SARDONYX_OF(tensor_split(in[0], 3, 2))},
      {"hsplit", x, SARDONYX_OF(hsplit(in[0], 3))},
      {"cat", two, SARDONYX_OF(cat({in[0], in[1]}, 1))},
      {"stack", two, SARDONYX_OF(stack({in[0], in[1]}, -1))},
      {"hstack", two, SARDONYX_OF(hstack({in[0], in[1]}))},
      {"vstack", two, SARDONYX_OF(vstack({in[0], in[1]}))},
      {"dstack", two, SARDONYX_OF(dstack({in[0], in[1]}))},
      {"column_stack", {a, a}, SARDONYX_OF(column_stack({in[0][0], in[1][1]}))},
      {"atleast_3d", vector, SARDONYX_OF(atleast_3d(in[0]))},
      {"block_diag", {matrix[0], matrix[0]}, SARDONYX_OF(block_diag({in[0], in[1]}))},
      {"cartesian_prod", vectors, SARDONYX_OF(cartesian_prod({in[0], in[1]}))},
      {"pad", x, SARDONYX_OF(pad(in[0], {1, 2, 0, 1}, 0.5))},
      {"pad cutting off", x, SARDONYX_OF(pad(in[0], {-1, 2}))},
      {"pad by reflection", x, SARDONYX_OF(pad(in[0], {1, 2}, "reflect"))},
      {"pad by the edge", x, SARDONYX_OF(pad(in[0], {1, 2, 2, 0}, "replicate"))},
      {"pad in a circle", x, SARDONYX_OF(pad(in[0], {1, 2, 1, 0}, "circular"))},
      {"tril", matrix, SARDONYX_OF(tril(in[0])), {14, "Trilu"}},
      {"triu", matrix, SARDONYX_OF(triu(in[0], 1)), {14, "Trilu"}},
      {"diag of a vector", vector, SARDONYX_OF(diag(in[0], 1))},
      {"diag of a matrix", matrix, SARDONYX_OF(diag(in[0]))},
      {"diagonal", x, SARDONYX_OF(diagonal(in[0], -1, 1, 2))},
      {"diag_embed", x, SARDONYX_OF(diag_embed(in[0]))},
      {"zeros of a size", x, SARDONYX_OF(zeros({in[0].size(0), 3}) + in[0].sum())},
      {"full_like", x, SARDONYX_OF(full_like(in[0], 2) * in[0])},
      {"arange of a size", matrix, SARDONYX_OF(arange(in[0].size(1)) + in[0])},
      {"one_hot", {integers(0, 3, {4})}, SARDONYX_OF(one_hot(in[0], 3))},
      {"randn_like", x, SARDONYX_OF(randn_like(in[0]) + in[0]), {0, "", true}},
      {"rand_like", x, SARDONYX_OF(rand_like(in[0]) + in[0]), {0, "", true}},
      {"bernoulli", {positive_numbers({2, 3})}, SARDONYX_OF(bernoulli(in[0])), {0, "", true}},
      {"multinomial",
       {positive_numbers({2, 3})},
       SARDONYX_OF(multinomial(in[0], 4, true)),
       {0, "", true}},
  };
}

}  // namespace sardonyx::eager::exports
