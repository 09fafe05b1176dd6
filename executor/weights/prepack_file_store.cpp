#include "executor/weights/prepack_file_store.h"

#include "onnx_io/file_access.h"

namespace sardonyx {
namespace {

std::string text_of(const ContentHash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), sizeof hash};
}

// The key of a packed weight: its form and the identity of its elements.
std::string joined(const std::string& form, const std::string& elements) {
  return text(form.size(), " ", form, elements);
}

bool is_interruption(const Error& error) {
  return error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeadlineExceeded;
}

}  // namespace

PrepackFileStore::PrepackFileStore(std::filesystem::path path, std::string maker, const Log& log)
    : path_(std::move(path)), log_(log) {
  asked_for_.maker = std::move(maker);
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return;
  const std::shared_ptr<Buffer> mapped = mapped_file();
  if (!mapped) return;
  if (!is_prepack_file({mapped->data(), mapped->size()})) {
    fail(ErrorCode::kInvalidArgument, "plan cache ", path_.native(),
         ": expected a file that a session wrote as its plan cache, or none; this one holds "
         "something else and would be overwritten");
  }
  try {
    stored_ = read_prepack_file(mapped);
  } catch (const Error& problem) {
    log_.write(LogLevel::kWarning, "plan cache ", path_.native(), ": ", problem.what(),
               "; it will be replaced");
    return;
  }
  if (stored_.maker != asked_for_.maker) {
    log_.write(LogLevel::kInfo, "plan cache ", path_.native(), ": it is of ", stored_.maker,
               "; this is ", asked_for_.maker, ": it will be replaced");
    stored_ = {};
    return;
  }
  for (const StoredPack& pack : stored_.packs) {
    by_content_.emplace(joined(pack.form, text_of(pack.content)), &pack);
    if (!pack.origin.empty()) by_origin_.emplace(joined(pack.form, pack.origin), &pack);
  }
}

// Null where there are no bytes, or none that can be read: the file then stays as it is.
std::shared_ptr<Buffer> PrepackFileStore::mapped_file() {
  try {
    const OpenFile file = open_regular(path_);
    return file.size == 0 ? nullptr : map_file(file);
  } catch (const Error& error) {
    has_failed_ = true;
    log_.write(LogLevel::kWarning, "plan cache: ", error.what());
    return nullptr;
  }
}

std::shared_ptr<const Buffer> PrepackFileStore::get(
    const Tensor& weight, const std::string& form, size_t bytes,
    const std::function<std::shared_ptr<const Buffer>()>& make) {
  if (is_of_no_use()) return make();
  const auto find = [&](const Names& names, const std::string& elements) -> const StoredPack* {
    const auto at = names.find(joined(form, elements));
    return at == names.end() || at->second->packed->size() != bytes ? nullptr : at->second;
  };
  StoredPack pack{form, weight.origin(), {}, nullptr, {}};
  const StoredPack* stored = pack.origin.empty() ? nullptr : find(by_origin_, pack.origin);
  pack.content = stored ? stored->content : content_hash(weight);
  if (!stored) stored = find(by_content_, text_of(pack.content));
  if (stored && !is_intact(*stored)) stored = nullptr;
  pack.packed = stored ? stored->packed : make();
  const std::lock_guard lock(mutex_);
  bytes_ += bytes;
  new_bytes_ += stored ? 0 : bytes;
  asked_for_.packs.push_back(pack);
  return pack.packed;
}

// Looks at the bytes once, when they are first asked for.
bool PrepackFileStore::is_intact(const StoredPack& pack) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = intact_.find(&pack); at != intact_.end()) return at->second;
  }
  const bool is_intact = pack.is_intact();
  const std::lock_guard lock(mutex_);
  if (!intact_.emplace(&pack, is_intact).second || is_intact) return is_intact;
  is_damaged_ = true;
  log_.write(LogLevel::kWarning, "plan cache ", path_.native(), ": ", pack.packed->size(),
             " bytes of packed weights are not what was written: the file is damaged, and will be "
             "replaced");
  return false;
}

// Whether the store is useless: nothing was read from the file, and nothing will be written.
bool PrepackFileStore::is_of_no_use() {
  const std::lock_guard lock(mutex_);
  return has_failed_ && stored_.packs.empty();
}

void PrepackFileStore::save() noexcept {
  // Each save rewrites the whole file, so that a few new bytes are not worth it.
  constexpr size_t kMinShare = 8;
  const std::lock_guard lock(mutex_);
  const bool is_worth_it = is_damaged_ || kMinShare * new_bytes_ >= bytes_;
  if (has_failed_ || new_bytes_ == 0 || !is_worth_it) return;
  try {
    write_prepack_file(path_, asked_for_);
    new_bytes_ = 0;
    is_damaged_ = false;
    log_.write(LogLevel::kInfo, "plan cache ", path_.native(), ": wrote ", bytes_, " bytes");
  } catch (const Error& error) {
    if (is_interruption(error)) return;  // the run ends, and the next plan tries again
    has_failed_ = true;
    log_.write(LogLevel::kWarning, "plan cache: ", error.what());
  } catch (const std::exception& error) {
    has_failed_ = true;
  }
}

}  // namespace sardonyx
