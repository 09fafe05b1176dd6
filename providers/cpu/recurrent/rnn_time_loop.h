// How the kernels of recurrent layers go over directions, sequences and steps. What one step
// computes is up to those who derive from this.
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
  size_t panels_at_once;  // panels that are computed together
  bool batch_first = false;
  size_t panels() const {
    const size_t units = lanes * panels_at_once;
    return (hidden + units - 1) / units * panels_at_once;
  }
  size_t padded() const { return panels() * lanes; }
  size_t block() const { return gates * lanes; }
  size_t row() const { return panels() * block(); }  // all gates of one position
};
// Of the general inputs: X [steps, batch, in] or, `batch_first`, [batch, steps, in], and a
// direction's last dims.
RecurrentSizes recurrent_sizes(const KernelRequest& request, size_t hidden, size_t gates,
                               const std::string& direction, size_t panels_at_once = 1,
                               bool batch_first = false);

// Whether the activations are the default ones.
bool are_usual(const std::optional<std::vector<std::string>>& activations, bool is_lstm);

// Inputs 4 to 6 are sequence_lens, initial_h and, `has_cell`, initial_c; the outputs Y, Y_h, Y_c.
// The rows of all states are sequences from the longest to the shortest: so those that have not
// ended are the first ones, and go together wherever in time they are.
class RecurrentWalk : public Kernel {
 public:
  RecurrentWalk(const RecurrentSizes& sizes, const KernelRequest& request, bool has_cell);
  size_t scratch_bytes() const final;
  void run(const KernelArgs& args) const final;

 protected:
  // Rows of the state that a step is for, and how far behind Scratch::places they are.
  struct Step {
    size_t rows;
    int64_t shift;
  };
  // Panels that one thread goes through, whole groups of those that go at once. Every other step
  // goes through them from the last to the first: it begins with the weights that the step before
  // has left in the nearest cache.
  struct Share {
    size_t begin, end;
    const CancelFlag& sign;
    bool from_end = false;
    // The first panel of the group that comes `index` panels after the share's first.
    size_t panel(size_t index, size_t at_once) const {
      return from_end ? end - index - at_once : begin + index;
    }
  };
  struct Scratch {
    float* x;  // the input's part of all gates, [places, row()]; places are steps and sequences
    float *h, *h_next, *c, *z, *reset;  // [rows, padded()]
    int64_t* places;                    // [rows]: of the first step of each row
    uint32_t* sequences;                // [rows]: of each row
    std::byte* own;
    size_t rows;  // the whole batch, or those of one thread
  };

  // How many of the steps sequence `sequence` has, or the longest one.
  size_t length(const KernelArgs& args, size_t sequence) const;
  size_t longest(const KernelArgs& args) const;
  // What a cell finds in Scratch::x, from gate 0 of `panel` on.
  InputPart input_of(const Scratch& scratch, const Step& step, size_t panel) const {
    return {scratch.x + panel * s_.block(), s_.row(), scratch.places, step.shift};
  }

  const RecurrentSizes s_;

  // Bytes of Scratch::own.
  virtual size_t own_bytes() const { return 0; }
  // Before any direction.
  virtual void read_input(const KernelArgs&, const Scratch&) const {}
  // Before input_part() of a direction.
  virtual void begin_direction(size_t direction, const Scratch& scratch) const {
    (void)direction, (void)scratch;
  }
  // Fills Scratch::x for the panels of a share; may leave early where its sign is up.
  virtual void input_part(const KernelArgs& args, size_t direction, const Scratch& scratch,
                          const Share& share) const = 0;
  // Before the step number `index`; Scratch::h is the state of all rows.
  virtual void read_state(const KernelArgs& args, size_t direction, size_t index,
                          const Scratch& scratch) const {
    (void)args, (void)direction, (void)index, (void)scratch;
  }
  // A step has so many phases: each begins when all shares have ended the one before.
  virtual int phases() const { return 1; }
  // After the last phase h_next and c of the first rows are there, for the panels of a share.
  virtual void run_step(size_t direction, const Scratch& scratch, const Step& step,
                        const Share& share, int phase) const = 0;

 private:
  // How the work of a direction is shared out: panels where the weights no longer fit one core's
  // nearest caches, else sequences, which never wait for each other.
  enum class Sharing : uint8_t { kNone, kPanels, kSequences };
  Sharing sharing() const;
  bool is_much_work() const;  // of a direction: enough for a second thread
  bool runs_both_at_once() const;

  void run_direction(const KernelArgs& args, size_t index, std::byte* scratch,
                     const CancelFlag& sign) const;
  int participants() const;
  Scratch rows_of(const Scratch& scratch, int part, int parts) const;
  template <typename Body>
  void for_each_panel_share(int parts, const CancelFlag& sign, const Body& body) const;
  void run_steps(const KernelArgs& args, size_t index, Scratch scratch, int parts,
                 const CancelFlag& sign) const;
  bool is_backward(size_t index) const { return index == 1 || s_.first_backward; }
  // Of a step of a sequence.
  size_t place_of(size_t step, size_t sequence) const {
    return s_.batch_first ? sequence * s_.steps + step : step * s_.batch + sequence;
  }
  void order_rows(const KernelArgs& args, const Scratch& scratch) const;
  void set_places(const KernelArgs& args, size_t index, const Scratch& scratch) const;
  void keep_state(const Scratch& scratch, size_t first, const Share& share) const;
  void check_lengths(const int32_t* lengths) const;
  // Where in an array of states that of a sequence is.
  size_t state_at(size_t index, size_t sequence) const;
  void load_state(const void* initial, size_t index, const Scratch& scratch, float* state) const;
  void store_step(const KernelArgs& args, size_t index, size_t i, const Scratch& scratch,
                  const Step& step, const Share& share) const;
  void store_last(const KernelArgs& args, size_t index, const Scratch& scratch) const;
  size_t walk_bytes() const;
  size_t direction_bytes() const;
  Scratch scratch_of(std::byte* begin) const;

  int threads_;
  bool wants_[3];
  bool has_lengths_, has_hidden_, has_cell_;
};

}  // namespace sardonyx::cpu
