#include "executor/shared_contents.h"

#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "executor/content_hash.h"
#include "ir/reloadable_buffer.h"

namespace sardonyx {
namespace {

// Less is not worth its entry.
constexpr size_t kMinBytes = 4 << 10;

// Elements with the hash that they are known by. They stay, for other sessions read them as well;
// what passes make of them can be made anew, and need not.
class HashedBuffer : public ReloadableBuffer {
 public:
  HashedBuffer(std::shared_ptr<Buffer> memory, std::string origin)
      : ReloadableBuffer(std::move(memory), [](std::byte*) {}), origin_(std::move(origin)) {}
  std::string origin() const override { return origin_; }
  void release() override {}

 private:
  std::string origin_;
};

// Those that some session holds, by origin.
class SharedContents {
 public:
  // Never destroyed: sessions may be loaded while the process exits.
  static SharedContents& all() {
    static auto& contents = *new SharedContents;
    return contents;
  }

  // The buffer of this origin that is held already: `made` where there is none. Null where that
  // has other elements: whoever makes models on purpose can find some of the same hash.
  std::shared_ptr<Buffer> first_of(const std::string& origin, std::shared_ptr<Buffer> made) {
    const std::shared_ptr<Buffer> first = held_or_added(origin, made);
    const bool is_same =
        first == made || (first->size() == made->size() &&
                          std::memcmp(first->data(), made->data(), made->size()) == 0);
    return is_same ? first : nullptr;
  }

 private:
  std::shared_ptr<Buffer> held_or_added(const std::string& origin,
                                        const std::shared_ptr<Buffer>& made) {
    const std::lock_guard lock(mutex_);
    if (held_.size() >= next_sweep_) {
      std::erase_if(held_, [](const auto& entry) { return entry.second.expired(); });
      next_sweep_ = 2 * held_.size() + kFirstSweep;
    }
    std::weak_ptr<Buffer>& known = held_[origin];
    if (auto first = known.lock()) return first;
    known = made;
    return made;
  }

  static constexpr size_t kFirstSweep = 1024;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<Buffer>> held_;
  size_t next_sweep_ = kFirstSweep;
};

std::string origin_of(const Tensor& whole) {
  const ContentHash hash = content_hash(whole);
  return text("elements ", hash[0], " ", hash[1], ", ", whole.bytes(), " bytes");
}

using Constant = std::shared_ptr<const Tensor>;

void for_each_constant(Graph& graph, const std::function<void(Constant&)>& visit) {
  const auto visit_value = [&](Value* value) {
    if (value && value->constant) visit(value->constant);
    if (value && value->default_value) visit(value->default_value);
  };
  for (Value* input : graph.inputs())
    visit_value(input);
  for (const auto& node : graph.nodes()) {
    for (Value* input : node->inputs)
      visit_value(input);
    for (const GraphPtr& inner : subgraphs_of(*node))
      for_each_constant(*inner, visit);
  }
  for (Value* output : graph.outputs())
    visit_value(output);
}

}  // namespace

void share_contents(Graph& graph) {
  std::unordered_map<const Buffer*, std::shared_ptr<Buffer>> shared;
  for_each_constant(graph, [&](Constant& constant) {
    const std::shared_ptr<Buffer>& own = constant->buffer();
    const bool is_whole = own && own->size() == constant->bytes();
    if (!is_whole || constant->dtype() == DType::kString || constant->bytes() < kMinBytes ||
        !own->origin().empty()) {
      return;
    }
    std::shared_ptr<Buffer>& other = shared[own.get()];
    if (!other) {
      const std::string origin = origin_of(*constant);
      other = SharedContents::all().first_of(origin, std::make_shared<HashedBuffer>(own, origin));
    }
    if (!other) return;
    constant = std::make_shared<const Tensor>(constant->dtype(), constant->shape(), other);
  });
}

}  // namespace sardonyx
