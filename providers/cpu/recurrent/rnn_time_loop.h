// The time loop of recurrent kernels: directions, sequences of different lengths, steps, and how
// threads share them. A derived class computes one step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/kernel.h"
#include "providers/cpu/recurrent/rnn_cell_kernel.h"

namespace sardonyx::cpu {

struct RecurrentSizes {
  size_t steps, batch, in, hidden, directions, gates;
  bool first_backward;
  size_t lanes;           // hidden units of a panel
  size_t panels_at_once;  // panels that the cell computes in one call
  bool batch_first = false;
  size_t panels() const {
    const size_t units = lanes * panels_at_once;
    return (hidden + units - 1) / units * panels_at_once;
  }
  size_t padded() const { return panels() * lanes; }
  size_t block() const { return gates * lanes; }
  size_t row() const { return panels() * block(); }  // all gates of one position
};
// The sizes that follow from the request's X [steps, batch, in] (`batch_first`: [batch, steps, in])
// and the attributes given.
RecurrentSizes recurrent_sizes(const KernelRequest& request, size_t hidden, size_t gates,
                               const std::string& direction, size_t panels_at_once = 1,
                               bool batch_first = false);

// Whether the activations are the default ones.
bool are_usual(const std::optional<std::vector<std::string>>& activations, bool is_lstm);

// Inputs 4 to 6 are sequence_lens, initial_h and, `has_cell`, initial_c; the outputs Y, Y_h, Y_c.
// Rows of all states are sequences in order of decreasing length, so the ones that have not ended
// are the first rows, and one step computes them all, at whatever time each is.
class RnnTimeLoop : public Kernel {
 public:
  RnnTimeLoop(const RecurrentSizes& sizes, const KernelRequest& request, bool has_cell);
  size_t scratch_bytes() const final;
  void run(const KernelArgs& args) const final;

 protected:
  // Rows of the state that a step is for, and how far behind RnnScratch::places they are.
  struct TimeStep {
    size_t rows;
    int64_t shift;
  };
  // Panels of one thread, in whole groups of panels_at_once. Every other step visits them from the
  // last to the first, so that it begins with the weights that the step before has left in the
  // nearest cache.
  struct PanelRange {
    size_t begin, end;
    const CancelFlag& sign;
    bool from_end = false;
    // The first panel of the group that is `index` panels behind the first panel of the range.
    size_t panel(size_t index, size_t at_once) const {
      return from_end ? end - index - at_once : begin + index;
    }
  };
  struct RnnScratch {
    float* x;  // the input's part of all gates, [places, row()]; places are steps and sequences
    float *h, *h_next, *c, *z, *reset;  // [rows, padded()]
    int64_t* places;                    // [rows]: of the first step of each row
    uint32_t* sequences;                // [rows]: of each row
    std::byte* own;
    size_t rows;  // the whole batch, or those of one thread
  };

  // The number of steps of sequence `sequence`, and of the longest one.
  size_t length(const KernelArgs& args, size_t sequence) const;
  size_t longest(const KernelArgs& args) const;
  // The input's contribution in RnnScratch::x, from gate 0 of `panel` on.
  InputPart input_of(const RnnScratch& scratch, const TimeStep& step, size_t panel) const {
    return {scratch.x + panel * s_.block(), s_.row(), scratch.places, step.shift};
  }

  const RecurrentSizes s_;

  // Bytes of RnnScratch::own.
  virtual size_t own_bytes() const { return 0; }
  // Called once before any direction.
  virtual void read_input(const KernelArgs&, const RnnScratch&) const {}
  // Called before input_part() of a direction.
  virtual void begin_direction(size_t direction, const RnnScratch& scratch) const {
    (void)direction, (void)scratch;
  }
  // Fills RnnScratch::x for a range of panels; may return early once its CancelFlag is set.
  virtual void input_part(const KernelArgs& args, size_t direction, const RnnScratch& scratch,
                          const PanelRange& share) const = 0;
  // Called before step `index`; RnnScratch::h is the state of all rows.
  virtual void read_state(const KernelArgs& args, size_t direction, size_t index,
                          const RnnScratch& scratch) const {
    (void)args, (void)direction, (void)index, (void)scratch;
  }
  // Phases of a step: a barrier of all threads separates them.
  virtual int phases() const { return 1; }
  // The last phase writes h_next and c of the first rows, for a range of panels.
  virtual void run_step(size_t direction, const RnnScratch& scratch, const TimeStep& step,
                        const PanelRange& share, int phase) const = 0;

 private:
  // How threads share a direction: by panels where the weights exceed the caches of one core, else
  // by sequences, which need no barriers.
  enum class Sharing : uint8_t { kNone, kPanels, kSequences };
  Sharing sharing() const;
  bool is_much_work() const;  // of a direction: enough for a second thread
  bool runs_both_at_once() const;

  void run_direction(const KernelArgs& args, size_t index, std::byte* scratch,
                     const CancelFlag& sign) const;
  int participants() const;
  RnnScratch rows_of(const RnnScratch& scratch, int part, int parts) const;
  template <typename Body>
  void for_each_panel_share(int parts, const CancelFlag& sign, const Body& body) const;
  void run_steps(const KernelArgs& args, size_t index, RnnScratch scratch, int parts,
                 const CancelFlag& sign) const;
  bool is_backward(size_t index) const { return index == 1 || s_.first_backward; }
  // The row of X that holds step `step` of sequence `sequence`.
  size_t place_of(size_t step, size_t sequence) const {
    return s_.batch_first ? sequence * s_.steps + step : step * s_.batch + sequence;
  }
  void order_rows(const KernelArgs& args, const RnnScratch& scratch) const;
  void set_places(const KernelArgs& args, size_t index, const RnnScratch& scratch) const;
  void keep_state(const RnnScratch& scratch, size_t first, const PanelRange& share) const;
  void check_lengths(const int32_t* lengths) const;
  // The index of a sequence's state in an array of states.
  size_t state_at(size_t index, size_t sequence) const;
  void load_state(const void* initial, size_t index, const RnnScratch& scratch, float* state) const;
  void store_step(const KernelArgs& args, size_t index, size_t i, const RnnScratch& scratch,
                  const TimeStep& step, const PanelRange& share) const;
  void store_last(const KernelArgs& args, size_t index, const RnnScratch& scratch) const;
  size_t walk_bytes() const;
  size_t direction_bytes() const;
  RnnScratch scratch_of(std::byte* begin) const;

  int threads_;
  bool wants_[3];
  bool has_lengths_, has_hidden_, has_cell_;
};

}  // namespace sardonyx::cpu
