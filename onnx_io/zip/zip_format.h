// Parts that readers and writers of ZIP archives share: PKWARE's APPNOTE 6.3, sections 4.3.7 to
// 4.3.16.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::zip {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEndLocator64 = 0x07064b50;
constexpr size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56;
constexpr size_t kLocatorBytes = 20;
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint32_t kIn64 = 0xffffffff;  // the number stands in the ZIP64 field instead

uint32_t crc_of(const void* data, size_t bytes);

}  // namespace sardonyx::zip
