// Convolutions that take long, computed a few images, or rows of each, at a time: nothing ends a
// primitive once it runs, so deadlines and cancellations are looked at between strips.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "providers/onednn/primitive/api.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {

// A convolution, or a gradient of one, that is to be computed in strips of what it makes.
struct StripedConvolution {
  // Which rows of what it reads one row of what it makes is computed from.
  enum class Kind {
    kForward,     // those under its window
    kTransposed,  // those whose windows it lies in
    kInputGrad,   // the same; spec.dst is read, spec.src is made
    kWeightGrad,  // spec.dst is read, spec.weights is made: strips are of output channels
  };
  Kind kind = Kind::kForward;
  ConvolutionSpec spec;      // of the whole
  Desc from, weights, made;  // layouts that the primitive of the whole has; of the gradient by
                             // weights, made is these
  bool layouts = false;      // are from and made in memory like this? else row-major
  std::function<MaybePrimitive(const ConvolutionSpec& strip)> make;
  size_t input = 0;                // of the request: what is read
  std::optional<size_t> residual;  // an input that `made` begins with
};

struct Strip {
  Primitive primitive;
  Desc from, made;            // its own
  Desc from_part, made_part;  // within the whole
};

// Images, and rows of each, that make up a strip; or channels of the gradient by weights.
struct StripSize {
  int64_t images, rows, channels;
};
// As much as takes a fraction of a second; everything where that is more.
StripSize strip_size(const StripedConvolution& whole);

// None where one strip would be all, or oneDNN has no strips of this form.
std::vector<Strip> strips_of(const StripedConvolution& whole, const StripSize& size);

// How `desc` lies in memory.
Desc stored(const StripedConvolution& whole, const Desc& desc);

// Steps that copy each strip in, compute it, and copy it out. `shared` are the arguments that all
// have. Gives output 0.
SequenceBuilder::Place add_strips(SequenceBuilder& builder, const StripedConvolution& whole,
                                  const std::vector<Strip>& strips,
                                  const SequenceBuilder::Args& shared);

}  // namespace sardonyx::onednn
