// Images of other sizes and at other places.
#include "eager/nn.h"
#include "tests/function_exports/table.h"

namespace sardonyx::eager::exports {

std::vector<Function> resamplings() {
  const Tensors image{signed_numbers({1, 2, 4, 4})}, rows{signed_numbers({1, 2, 5})};
  const Tensors sampled{image[0], signed_numbers({1, 3, 3, 2}, 2) * 0.6};
  const Tensors blocks{signed_numbers({1, 8, 3, 3})};
  using Options = nn::InterpolateOptions;
  const auto resized = [](const Options& options) {
    return [=](In in) { return nn::interpolate(in[0], options); };
  };
  const auto grid = [](const nn::GridSampleOptions& options) {
    return [=](In in) { return nn::grid_sample(in[0], in[1], options); };
  };
  const Needs resize{11, "Resize"}, grid_sample{16, "GridSample"};
  return {
      {"nearest by a scale", image, resized({.scale_factor = {2}})},
      {"nearest to a size", image, resized({.size = {7, 6}}), resize},
      {"nearest of rows", rows, resized({.scale_factor = {2}})},
      {"nearest-exact", image, resized({.size = {7, 7}, .mode = "nearest-exact"}), resize},
      {"linear", rows, resized({.size = {8}, .mode = "linear"}), resize},
      {"bilinear", image, resized({.scale_factor = {2}, .mode = "bilinear"}), resize},
      {"bilinear with corners", image,
       resized({.size = {7, 7}, .mode = "bilinear", .align_corners = true}), resize},
      {"bicubic", image, resized({.scale_factor = {2, 1.5}, .mode = "bicubic"}), resize},
      {"bilinear without aliases",
       image,
       resized({.size = {3, 2}, .mode = "bilinear", .antialias = true}),
       {18, "Resize"}},
      {"area", image, resized({.size = {3, 3}, .mode = "area"})},
      {"grid_sample", sampled, grid({}), grid_sample},
      {"grid_sample nearest", sampled, grid({.mode = "nearest", .padding_mode = "border"}),
       grid_sample},
      {"grid_sample bicubic", sampled, grid({.mode = "bicubic", .align_corners = true}),
       grid_sample},
      {"affine_grid",
       {signed_numbers({1, 2, 3})},
       SARDONYX_OF(nn::affine_grid(in[0], {1, 2, 3, 3})),
       {20, "AffineGrid"}},
      {"pixel_shuffle", blocks, SARDONYX_OF(nn::pixel_shuffle(in[0], 2)), {11, "DepthToSpace"}},
      {"pixel_unshuffle", image, SARDONYX_OF(nn::pixel_unshuffle(in[0], 2))},
      {"channel_shuffle", blocks, SARDONYX_OF(nn::channel_shuffle(in[0], 2))},
  };
}

}  // namespace sardonyx::eager::exports
