#include "eager/distributed/sync_batch_norm.h"

#include <gmock/gmock.h>

#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/distributed/data_parallel.h"
#include "eager/distributed/ranks_for_test.h"
#include "eager/functional/functional.h"
#include "eager/generator.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"

namespace sardonyx::eager::distributed {
namespace {

// Rank r of n has rows of its own number, the last none of the middle ones: batches differ in size.
Tensor images_of(int rank, int64_t rows) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows * 3 * 4; ++i)
    values.push_back(static_cast<float>((i * 29 + rank * 53) % 31) / 5.0f +
                     static_cast<float>(rank));
  return floats(values, {rows, 3, 2, 2});
}
int64_t rows_of(int rank) {
  return rank == 2 ? 0 : 2 + rank;
}

void expect_close(const Tensor& ours, const Tensor& theirs, const std::string& what) {
  ASSERT_EQ(ours.data().shape(), theirs.data().shape()) << what;
  const auto a = ours.data().to_doubles(), b = theirs.data().to_doubles();
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 2e-5 * (1 + std::abs(b[i]))) << what << " " << i;
}

struct Normalizing : nn::Layer<Normalizing> {
  nn::Conv2d conv = add("conv", nn::Conv2d(3, 4, 1));
  nn::BatchNorm2d norm = add("norm", nn::BatchNorm2d(4));
  Tensor forward(const Tensor& x) const { return norm(conv(x)); }
};

// Weighs results unevenly, so that gradients through the statistics are not zero.
Tensor uneven_sum(const Tensor& y, int rank) {
  std::vector<float> weights;
  for (int64_t i = 0; i < y.data().count(); ++i)
    weights.push_back(static_cast<float>((i * 7 + rank * 3) % 5));
  return (y * floats(weights, y.data().shape())).sum();
}

// Results, running statistics and all gradients are those of one process that has all rows.
TEST(SyncBatchNormTest, EqualsOneProcessWithAllRows) {
  manual_seed(5);
  const Normalizing whole;
  manual_seed(5);
  const Normalizing own;
  EXPECT_EQ(sync_batch_norms(own, world()), 1u);
  const int rank = world().rank();
  for (int step = 0; step < 2; ++step) {
    own.zero_grad();
    whole.zero_grad();
    std::vector<Tensor> all, weighed;
    for (int from = 0; from < world().size(); ++from)
      all.push_back(images_of(from + step, rows_of(from)));
    Tensor all_rows = cat(all, 0);
    all_rows.set_requires_grad();
    const Tensor y_all = whole(all_rows);
    int64_t begin = 0, own_begin = 0;
    for (int from = 0; from < world().size(); ++from) {
      if (from == rank) own_begin = begin;
      const Tensor part = y_all.slice(0, {begin, begin + rows_of(from)});
      weighed.push_back(uneven_sum(part, from));
      begin += rows_of(from);
    }
    stack(weighed).sum().backward();
    Tensor x = images_of(rank + step, rows_of(rank));
    x.set_requires_grad();
    const Tensor y = own(x);
    uneven_sum(y, rank).backward();
    const Slice own_rows{own_begin, own_begin + rows_of(rank)};
    expect_close(y, y_all.slice(0, own_rows), "y");
    expect_close(x.grad(), all_rows.grad().slice(0, own_rows), "dx");
    const auto ours = own.named_parameters(), theirs = whole.named_parameters();
    for (size_t i = 0; i < ours.size(); ++i)
      expect_close(world().all_reduce(ours[i].second.grad()), theirs[i].second.grad(),
                   ours[i].first);
  }
  const auto ours = own.named_buffers(), theirs = whole.named_buffers();
  for (size_t i = 0; i < ours.size(); ++i)
    expect_close(ours[i].second, theirs[i].second, ours[i].first);
}

// The gradient of a penalty on gradients is that of one process that has all rows, too.
TEST(SyncBatchNormTest, GradientsOfGradients) {
  manual_seed(5);
  const Normalizing whole;
  manual_seed(5);
  const Normalizing own;
  sync_batch_norms(own, world());
  own.to(DType::kDouble);
  whole.to(DType::kDouble);
  const int rank = world().rank();
  const auto weighed = [](const Tensor& y, int from) { return uneven_sum(y * y, from); };
  std::vector<Tensor> all;
  for (int from = 0; from < world().size(); ++from)
    all.push_back(images_of(from, rows_of(from)).to(DType::kDouble));
  const Tensor all_rows = cat(all, 0).set_requires_grad();
  const Tensor y_all = whole(all_rows);
  Tensor total = zeros({}, {.dtype = DType::kDouble});
  int64_t begin = 0, own_begin = 0;
  for (int from = 0; from < world().size(); ++from) {
    if (from == rank) own_begin = begin;
    total = total + weighed(y_all.slice(0, {begin, begin + rows_of(from)}), from);
    begin += rows_of(from);
  }
  const Tensor d_all = grad({total}, {all_rows}, {.create_graph = true})[0];
  (d_all * d_all).sum().backward();
  const Tensor x = all[static_cast<size_t>(rank)].detach().set_requires_grad();
  const Tensor d_x = grad({weighed(own(x), rank)}, {x}, {.create_graph = true})[0];
  (d_x * d_x).sum().backward();
  const Slice own_rows{own_begin, own_begin + rows_of(rank)};
  expect_close(d_x.detach(), d_all.slice(0, own_rows).detach(), "dx");
  expect_close(x.grad(), all_rows.grad().slice(0, own_rows), "d of the penalty");
  const auto ours = own.named_parameters(), theirs = whole.named_parameters();
  for (size_t i = 0; i < ours.size(); ++i)
    expect_close(world().all_reduce(ours[i].second.grad()), theirs[i].second.grad(), ours[i].first);
}

// What float32 would round to nothing: variances far below the squares of means.
TEST(SyncBatchNormTest, InDoublePrecision) {
  nn::BatchNorm1d norm(2);
  norm.to(DType::kDouble);
  sync_batch_norms(norm, world());
  const auto value = static_cast<double>(world().rank());
  const std::vector<double> rows{1e6 + value, 2, 1e6 - value - 1, 3};
  const Tensor x = Tensor(sardonyx::Tensor::of<double>(rows, {2, 2}));
  const Tensor y = norm(x);
  EXPECT_EQ(y.dtype(), DType::kDouble);
  double squares = 0;
  const auto ranks = static_cast<double>(world().size());
  for (int rank = 0; rank < world().size(); ++rank) {
    for (const double one : {rank + 0.5, -rank - 0.5})  // about the mean, 1e6 - 0.5
      squares += one * one;
  }
  const double deviation = std::sqrt(squares / (2 * ranks) + 1e-5);
  EXPECT_NEAR(y.data().to_doubles()[0], (value + 0.5) / deviation, 1e-9);
  EXPECT_NEAR(y.data().to_doubles()[2], (-value - 0.5) / deviation, 1e-9);
}

TEST(SyncBatchNormTest, EvaluationIsAsBefore) {
  manual_seed(5);
  const Normalizing model;
  sync_batch_norms(model, world());
  model(images_of(world().rank(), 4));
  model.eval();
  // Without the other ranks: one alone may ask.
  const Tensor x = images_of(0, 3);
  const Tensor before = model(x);
  if (world().rank() == 0) {
    EXPECT_TRUE(model(x).data() == before.data());
  }
}

TEST(SyncBatchNormTest, OneRowOfEachRankIsEnough) {
  if (world().size() == 1) GTEST_SKIP() << "one row alone has no variance";
  nn::BatchNorm1d norm(3);
  sync_batch_norms(norm, world());
  const auto value = static_cast<float>(world().rank());
  const Tensor y = norm(floats({value, value, value}, {1, 3}));
  EXPECT_NEAR(world().all_reduce(y).to_vector<float>()[0], 0, 1e-5);
  EXPECT_NEAR(y.to_vector<float>()[0] < 0, 2 * world().rank() < world().size() - 1, 0);
}

TEST(SyncBatchNormTest, RefusesWhatItCannotDo) {
  if (world().size() == 1) GTEST_SKIP() << "one rank is an ordinary batch norm";
  nn::BatchNorm1d norm(3);
  sync_batch_norms(norm, world());
  EXPECT_THAT(message_of([&] {
                norm(floats({}, {0, 3}));
              }),
              testing::HasSubstr("the variance of 0 elements"));
  const auto step = compile([&](const Tensor& x) { return norm(x); });
  EXPECT_THAT(message_of([&] {
                step(floats({}, {0, 3}));
              }),
              testing::HasSubstr("the variance of 0 elements"));
  const DataParallel model(norm, world());
  EXPECT_THAT(message_of([&] { model.reducer().step_without_batch(); }),
              testing::HasSubstr("a batch of no rows"));
}

}  // namespace
}  // namespace sardonyx::eager::distributed
