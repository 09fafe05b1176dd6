#include "executor/weights/weight_sharing.h"

#include <cstring>
#include <string>
#include <unordered_map>

#include "executor/weights/content_hash.h"
#include "executor/weights/graph_constants.h"
#include "ir/core/memory/evictable_buffer.h"
#include "ir/core/weak_registry.h"

namespace sardonyx {
namespace {

// Smaller constants are not worth an entry in the registry.
constexpr size_t kMinBytes = 4 << 10;

// A buffer with an origin that is the hash of its elements. It is never evicted, since other
// sessions read it as well; what passes compute from it can be evicted and recomputed.
class HashedBuffer : public EvictableBuffer {
 public:
  HashedBuffer(std::shared_ptr<Buffer> memory, std::string origin)
      : EvictableBuffer(std::move(memory), [](std::byte*) {}), origin_(std::move(origin)) {}
  std::string origin() const override { return origin_; }
  void release() override {}

 private:
  std::string origin_;
};

// The shared buffers that some session still holds, by origin.
WeakRegistry<Buffer>& held_contents() {
  static auto& contents = *new WeakRegistry<Buffer>;
  return contents;
}

// The buffer of this origin that is held already: `made` where there is none. Null where that has
// other elements: whoever makes models on purpose can find some of the same hash.
std::shared_ptr<Buffer> held_or(const std::string& origin, const std::shared_ptr<Buffer>& made) {
  const std::shared_ptr<Buffer> first = held_contents().first_of(origin, made);
  const bool is_same =
      first == made || (first->size() == made->size() &&
                        std::memcmp(first->data(), made->data(), made->size()) == 0);
  return is_same ? first : nullptr;
}

std::string origin_of(const Tensor& whole) {
  const ContentHash hash = content_hash(whole);
  return text("elements ", hash[0], " ", hash[1], ", ", whole.bytes(), " bytes");
}

}  // namespace

void share_contents(Graph& graph) {
  std::unordered_map<const Buffer*, std::shared_ptr<Buffer>> shared;
  for_each_constant(graph, [&](std::shared_ptr<const Tensor>& constant) {
    const std::shared_ptr<Buffer>& own = constant->buffer();
    const bool is_whole = own && own->size() == constant->bytes();
    if (!is_whole || constant->dtype() == DType::kString || constant->bytes() < kMinBytes ||
        !own->origin().empty()) {
      return;
    }
    std::shared_ptr<Buffer>& other = shared[own.get()];
    if (!other) {
      const std::string origin = origin_of(*constant);
      other = held_or(origin, std::make_shared<HashedBuffer>(own, origin));
    }
    if (!other) return;
    constant = std::make_shared<const Tensor>(constant->dtype(), constant->shape(), other);
  });
}

}  // namespace sardonyx
