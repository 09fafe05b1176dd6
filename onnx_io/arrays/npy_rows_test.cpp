#include "onnx_io/arrays/npy_rows.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>

#include "onnx_io/npy.h"
#include "onnx_io/npz.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

class NpyRowsTest : public testing::Test {
 protected:
  NpyRowsTest() : folder_(fs::temp_directory_path() / ("npy_rows" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~NpyRowsTest() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  fs::path folder_;
};

// The same elements in any order of dims, byte order and type.
void expect_rows(NpyRows& rows, const Tensor& all) {
  EXPECT_EQ(rows.shape(), all.shape());
  EXPECT_EQ(rows.dtype(), all.dtype());
  for (int64_t begin = 0; begin <= all.shape()[0]; ++begin) {
    for (int64_t end = begin; end <= all.shape()[0]; ++end)
      EXPECT_TRUE(rows.read(begin, end) == all.slice(begin, end)) << begin << " to " << end;
  }
}

std::string npy_file(const std::string& dict, const std::string& data) {
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  out += static_cast<char>((dict.size() + 1) & 0xff);
  out += static_cast<char>((dict.size() + 1) >> 8);
  return out + dict + "\n" + data;
}

std::vector<float> counting(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i) + 0.5f;
  return values;
}

TEST_F(NpyRowsTest, AnyRangeOfRows) {
  const Tensor tensors[] = {
      Tensor::of<float>(counting(30), {5, 2, 3}),
      Tensor::vector<int64_t>({1, 2, 3}),
      Tensor::of<uint8_t>({}, {0, 4}),
      Tensor::of<uint8_t>({}, {4, 0}),
      Tensor::of<std::string>({"a",
                               "\xc3\xa4"
                               "bc",
                               "", "d"},
                              {2, 2}),
  };
  for (const Tensor& tensor : tensors) {
    write_npy(folder_ / "a.npy", tensor);
    NpyRows rows(folder_ / "a.npy");
    expect_rows(rows, tensor);
  }
}

TEST_F(NpyRowsTest, ColumnsFirstAndBigEndian) {
  const std::string column_major("\0\1\0\3\0\5\0\2\0\4\0\6", 12);
  const fs::path file =
      write("f.npy",
            npy_file("{'descr': '>i2', 'fortran_order': True, 'shape': (3, 2), }", column_major));
  NpyRows rows(file);
  expect_rows(rows, Tensor::of<int16_t>({1, 2, 3, 4, 5, 6}, {3, 2}));
}

TEST_F(NpyRowsTest, LongHeaders) {
  for (const size_t blanks : {5000u, 60000u}) {
    const fs::path file =
        write("h.npy", npy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }" +
                                    std::string(blanks, ' '),
                                "\7\x9"));
    NpyRows rows(file);
    expect_rows(rows, Tensor::vector<uint8_t>({7, 9}));
  }
}

TEST_F(NpyRowsTest, MembersOfArchives) {
  const Tensor x = Tensor::of<float>(counting(30), {5, 6});
  NpzWriter archive(folder_ / "a.npz");
  archive.add("y", Tensor::vector<int8_t>({1}));
  archive.add("x", x);
  archive.close();
  NpyRows rows(folder_ / "a.npz", "x");
  expect_rows(rows, x);
}

void put(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    out += static_cast<char>(value >> 8 * i);
}

// An archive with one deflated member, as numpy's savez_compressed writes it.
std::string deflated_archive(const std::string& name, const std::string& data, uint32_t checksum) {
  std::string packed(compressBound(data.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  std::string facts;
  put(facts, 8, 2);
  put(facts, 0, 4);
  put(facts, checksum, 4);
  put(facts, packed.size(), 4);
  put(facts, data.size(), 4);
  put(facts, name.size(), 2);
  put(facts, 0, 2);
  std::string out = "PK\3\4";
  put(out, 20, 2);
  put(out, 0, 2);
  out += facts + name + packed;
  const size_t directory = out.size();
  out += "PK\1\2";
  put(out, 20, 2);
  put(out, 20, 2);
  put(out, 0, 2);
  out += facts;
  put(out, 0, 10);
  put(out, 0, 4);
  out += name;
  const size_t directory_bytes = out.size() - directory;
  out += "PK\5\6";
  put(out, 0, 4);
  put(out, 1, 2);
  put(out, 1, 2);
  put(out, directory_bytes, 4);
  put(out, directory, 4);
  put(out, 0, 2);
  return out;
}

TEST_F(NpyRowsTest, DeflatedMembers) {
  const Tensor x = Tensor::of<float>(counting(300000), {1000, 300});
  const std::string bytes = npy_bytes(x);
  const auto checksum = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
  write("c.npz", deflated_archive("x.npy", bytes, checksum));
  NpyRows rows(folder_ / "c.npz", "x");
  const std::pair<int64_t, int64_t> ranges[] = {{0, 3}, {3, 500}, {700, 1000}, {2, 4}, {0, 1000}};
  for (const auto& [begin, end] : ranges)
    EXPECT_TRUE(rows.read(begin, end) == x.slice(begin, end)) << begin << " to " << end;

  write("wrong.npz", deflated_archive("x.npy", bytes, checksum + 1));
  NpyRows wrong(folder_ / "wrong.npz", "x");
  EXPECT_NO_THROW(wrong.read(0, 999));
  EXPECT_THROW(wrong.read(999, 1000), Error);
}

TEST_F(NpyRowsTest, WhatIsNoArrayOfRows) {
  write_npy(folder_ / "scalar.npy", Tensor::scalar(1.0f));
  EXPECT_THROW(NpyRows(folder_ / "scalar.npy"), Error);
  EXPECT_THROW(NpyRows(write("short.npy", "\x93NUMPY")), Error);
  EXPECT_THROW(NpyRows(write("empty.npy", "")), Error);
  EXPECT_THROW(NpyRows(folder_ / "absent.npy"), Error);
  EXPECT_THROW(NpyRows(write("less.npy",
                             npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (9, 9), }",
                                      "1234"))),
               Error);
}

}  // namespace
}  // namespace sardonyx
