// Products, linear algebra and Fourier transforms.
#include "eager/functional/fft.h"
#include "eager/functional/functional.h"
#include "eager/functional/linalg.h"
#include "tests/function_exports/table.h"

namespace sardonyx::eager::exports {
namespace {

void add_products(std::vector<Function>& all) {
  const Tensor a = signed_numbers({3, 4}), b = signed_numbers({4, 5}, 2), v = signed_numbers({4});
  const Tensor batch = signed_numbers({2, 3, 4}), others = signed_numbers({2, 4, 5}, 2);
  const Tensors ab{a, b}, batches{batch, others}, rows{a, signed_numbers({5, 4}, 2)};
  const Tensors triples{signed_numbers({2, 3}), signed_numbers({2, 3}, 2)};
  const Function functions[] = {
      {"matmul", ab, SARDONYX_OF(matmul(in[0], in[1]))},
      {"matmul of batches", batches, SARDONYX_OF(matmul(in[0], in[1]))},
      {"matmul of integers",
       {integers(0, 9, {2, 3}), integers(0, 9, {3, 2})},
       SARDONYX_OF(matmul(in[0], in[1]))},
      {"linear",
       {a, signed_numbers({2, 4}), signed_numbers({2})},
       SARDONYX_OF(linear(in[0], in[1], in[2]))},
      {"linear of batches",
       {batch, signed_numbers({2, 4}), signed_numbers({2})},
       SARDONYX_OF(linear(in[0], in[1], in[2]))},
      {"linear without bias", {a, signed_numbers({2, 4})}, SARDONYX_OF(linear(in[0], in[1]))},
      {"einsum of a product", ab, SARDONYX_OF(einsum("ij,jk->ik", {in[0], in[1]})), {12, "Einsum"}},
      {"einsum of batches",
       batches,
       SARDONYX_OF(einsum("bij,bjk->bik", {in[0], in[1]})),
       {12, "Einsum"}},
      {"einsum of a sum", ab, SARDONYX_OF(einsum("ij,jk->i", {in[0], in[1]})), {12, "Einsum"}},
      {"einsum of a diagonal",
       {signed_numbers({3, 3})},
       SARDONYX_OF(einsum("ii->i", {in[0]})),
       {12, "Einsum"}},
      {"mm", ab, SARDONYX_OF(mm(in[0], in[1]))},
      {"bmm", batches, SARDONYX_OF(bmm(in[0], in[1]))},
      {"mv", {a, v}, SARDONYX_OF(mv(in[0], in[1]))},
      {"dot", {v, v}, SARDONYX_OF(dot(in[0], in[1]))},
      {"outer", {v, v}, SARDONYX_OF(outer(in[0], in[1]))},
      {"inner", rows, SARDONYX_OF(inner(in[0], in[1]))},
      {"addmm",
       {signed_numbers({5}), a, b},
       SARDONYX_OF(addmm(in[0], in[1], in[2], {.beta = 0.5, .alpha = 2}))},
      {"baddbmm",
       {signed_numbers({3, 5}), batch, others},
       SARDONYX_OF(baddbmm(in[0], in[1], in[2]))},
      {"addmv", {signed_numbers({3}), a, v}, SARDONYX_OF(addmv(in[0], in[1], in[2]))},
      {"addbmm", {signed_numbers({3, 5}), batch, others}, SARDONYX_OF(addbmm(in[0], in[1], in[2]))},
      {"tensordot", {batch, signed_numbers({3, 4, 2}, 2)}, SARDONYX_OF(tensordot(in[0], in[1], 2))},
      {"kron", {a, signed_numbers({2, 2})}, SARDONYX_OF(kron(in[0], in[1]))},
      {"cross", triples, SARDONYX_OF(cross(in[0], in[1]))},
      {"trace", {signed_numbers({3, 3})}, SARDONYX_OF(trace(in[0]))},
      {"matrix_power", {signed_numbers({3, 3})}, SARDONYX_OF(matrix_power(in[0], 3))},
      {"cdist", rows, SARDONYX_OF(cdist(in[0], in[1]))},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

void add_linear_algebra(std::vector<Function>& all) {
  const Tensor wide = signed_numbers({3, 3}), a = matmul(wide, wide.t()) + eye(3);
  const Tensors one{a}, with_columns{a, signed_numbers({3, 2}, 2)};
  const auto none = [](const char* op) { return Needs{kNoOpset, text("sardonyx::", op)}; };
  const Function functions[] = {
      {"det", one, SARDONYX_OF(linalg::det(in[0])), {11, "Det"}},
      {"inv", one, SARDONYX_OF(linalg::inv(in[0]))},
      {"vector_norm", one, SARDONYX_OF(linalg::vector_norm(in[0], 2, {1}))},
      {"matrix_norm", one, SARDONYX_OF(linalg::matrix_norm(in[0]))},
      {"matrix_norm of columns", one,
       SARDONYX_OF(linalg::matrix_norm(in[0], linalg::MatrixNorm::kOne))},
      {"multi_dot", {a, wide, a}, SARDONYX_OF(linalg::multi_dot({in[0], in[1], in[2]}))},
      {"vecdot", with_columns, SARDONYX_OF(linalg::vecdot(in[1], in[1], 0))},
      {"solve", with_columns, SARDONYX_OF(linalg::solve(in[0], in[1])), none("Solve")},
      {"slogdet", one, SARDONYX_OF(linalg::slogdet(in[0]).logabsdet), none("SlogDet")},
      {"cholesky", one, SARDONYX_OF(linalg::cholesky(in[0])), none("Cholesky")},
      {"lu", one, SARDONYX_OF(linalg::lu(in[0]).U), none("Lu")},
      {"lu_factor", one, SARDONYX_OF(linalg::lu_factor(in[0]).LU), none("Lu")},
      {"lu_solve",
       {a, linalg::lu_factor(a).pivots, signed_numbers({3, 2}, 2)},
       SARDONYX_OF(linalg::lu_solve(in[0], in[1], in[2])),
       none("LuSolve")},
      {"matrix_exp", one, SARDONYX_OF(linalg::matrix_exp(in[0])), none("MatrixExp")},
      {"qr", one, SARDONYX_OF(linalg::qr(in[0]).R), none("Qr")},
      {"eigh", one, SARDONYX_OF(linalg::eigh(in[0]).eigenvalues), none("Eigh")},
      {"eig", one, SARDONYX_OF(linalg::eig(in[0]).eigenvalues), none("Eig")},
      {"svd", one, SARDONYX_OF(linalg::svd(in[0]).S), none("Svd")},
      {"lstsq", with_columns, SARDONYX_OF(linalg::lstsq(in[0], in[1])), none("Qr")},
      {"pinv", one, SARDONYX_OF(linalg::pinv(in[0])), none("Svd")},
      {"matrix_rank", one, SARDONYX_OF(linalg::matrix_rank(in[0])), none("Svd")},
      {"solve_triangular", with_columns, SARDONYX_OF(linalg::solve_triangular(in[0], in[1])),
       none("Solve")},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

void add_transforms(std::vector<Function>& all) {
  const Tensors x{signed_numbers({2, 8})}, z{signed_numbers({2, 4, 2})};
  const Tensors zs{signed_numbers({2, 4, 2}), signed_numbers({2, 4, 2}, 2)};
  const Tensors signal{signed_numbers({2, 32}), fft::hann_window(8)};
  const Needs dft{17, "DFT"};
  const Function functions[] = {
      {"fft", z, SARDONYX_OF(fft::fft(in[0])), dft},
      {"ifft", z, SARDONYX_OF(fft::ifft(in[0], {.norm = fft::Norm::kOrtho})), dft},
      {"rfft", x, SARDONYX_OF(fft::rfft(in[0])), dft},
      {"irfft", z, SARDONYX_OF(fft::irfft(in[0], {.n = 6})), dft},
      {"fft2", {signed_numbers({2, 4, 4, 2})}, SARDONYX_OF(fft::fft2(in[0])), dft},
      {"rfft2", {signed_numbers({2, 4, 4})}, SARDONYX_OF(fft::rfft2(in[0])), dft},
      {"stft", signal, SARDONYX_OF(fft::stft(in[0], {.n_fft = 8, .window = in[1]})), dft},
      {"istft",
       {signed_numbers({2, 5, 7, 2}), fft::hann_window(8)},
       SARDONYX_OF(fft::istft(in[0], {.n_fft = 8, .window = in[1]})),
       dft},
      {"fftshift", x, SARDONYX_OF(fft::fftshift(in[0]))},
      {"complex", x, SARDONYX_OF(fft::complex(in[0], in[0]))},
      {"multiply of pairs", zs, SARDONYX_OF(fft::multiply(in[0], in[1]))},
      {"conj", z, SARDONYX_OF(fft::conj(in[0]))},
      {"abs of pairs", z, SARDONYX_OF(fft::abs(in[0]))},
      {"angle of pairs", z, SARDONYX_OF(fft::angle(in[0]))},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

}  // namespace

std::vector<Function> products_and_transforms() {
  std::vector<Function> all;
  add_products(all);
  add_linear_algebra(all);
  add_transforms(all);
  return all;
}

}  // namespace sardonyx::eager::exports
