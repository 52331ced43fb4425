//===- NpyTest.cpp - numpy's file format ----------------------------------===//

#include "FuseDialect/Engine/Npy.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fuse;

namespace {

class NpyTest : public ::testing::Test {
protected:
  MLIRContext context;
  Builder b{&context};

  static std::string makeFile(StringRef header, StringRef data,
                              int version = 1) {
    std::string file = "\x93NUMPY";
    file += static_cast<char>(version);
    file += '\0';
    size_t length = header.size();
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i, length >>= 8)
      file += static_cast<char>(length & 0xff);
    return file + header.str() + data.str();
  }
  static std::string makeHeader(StringRef descr, StringRef shape,
                                StringRef order = "False") {
    return ("{'descr': '" + descr + "', 'fortran_order': " + order +
            ", 'shape': " + shape + ", }\n")
        .str();
  }
  HostTensor parse(StringRef file, Type type = Type()) {
    auto tensor = parseNpy(file, "x.npy", type, &context);
    if (!tensor) {
      ADD_FAILURE() << llvm::toString(tensor.takeError());
      return std::move(*HostTensor::create({0}, b.getF32Type()));
    }
    return std::move(*tensor);
  }
  std::string getError(StringRef file, Type type = Type()) {
    auto tensor = parseNpy(file, "x.npy", type, &context);
    return tensor ? "no error" : llvm::toString(tensor.takeError());
  }
};

TEST_F(NpyTest, ReadsVersionsOneToThree) {
  for (int version : {1, 2, 3}) {
    HostTensor tensor =
        parse(makeFile(makeHeader("<i2", "(2, 3)"),
                       StringRef("\1\0\2\0\3\0\4\0\5\0\6\0", 12), version));
    EXPECT_EQ(tensor.getShape(), ArrayRef<int64_t>({2, 3}));
    EXPECT_EQ(tensor.getElementType(), b.getI16Type());
    EXPECT_EQ(tensor.getValues<int16_t>(),
              ArrayRef<int16_t>({1, 2, 3, 4, 5, 6}));
  }
}

TEST_F(NpyTest, KeysAndSpacesAreFree) {
  HostTensor tensor = parse(makeFile(
      "{\"shape\":(2L,),\n'fortran_order' :False, 'descr':\"|u1\"}", "\1\2"));
  EXPECT_EQ(tensor.getShape(), ArrayRef<int64_t>({2}));
}

TEST_F(NpyTest, RankZeroAndNoElements) {
  EXPECT_EQ(parse(makeFile(makeHeader("|i1", "()"), "\7")).getInt(0), 7);
  HostTensor empty = parse(makeFile(makeHeader("<f4", "(0, 4000000000)"), ""));
  EXPECT_EQ(empty.getShape(), ArrayRef<int64_t>({0, 4000000000}));
}

TEST_F(NpyTest, FortranOrderIsRearranged) {
  HostTensor tensor = parse(makeFile(makeHeader("|u1", "(2, 3, 2)", "True"),
                                     "\1\2\3\4\5\6\7\x8\x9\xa\xb\xc"));
  EXPECT_EQ(tensor.getValues<uint8_t>(),
            ArrayRef<uint8_t>({1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12}));
}

TEST_F(NpyTest, BooleansAreZeroOrOne) {
  HostTensor tensor =
      parse(makeFile(makeHeader("|b1", "(3,)"), StringRef("\0\1\xff", 3)));
  EXPECT_EQ(tensor.getElementType(), b.getI1Type());
  EXPECT_EQ(tensor.getValues<uint8_t>(), ArrayRef<uint8_t>({0, 1, 1}));
}

TEST_F(NpyTest, TheModelMakesTwoBytesABFloat) {
  for (StringRef descr : {"<V2", "|V2", "<u2"}) {
    std::string file =
        makeFile(makeHeader(descr, "(1,)"), StringRef("\x80\x3f", 2));
    HostTensor tensor = parse(file, b.getBF16Type());
    EXPECT_EQ(tensor.getElementType(), b.getBF16Type());
    EXPECT_EQ(tensor.getDouble(0), 1.0);
  }
  EXPECT_EQ(getError(makeFile(makeHeader("<V2", "(1,)"), "ab")),
            "cannot read 'x.npy': elements of type '<V2' are not supported");
}

TEST_F(NpyTest, RefusesOtherElements) {
  EXPECT_EQ(getError(makeFile(makeHeader(">f4", "(1,)"), "abcd")),
            "cannot read 'x.npy': elements of type '>f4' are big-endian, which "
            "is not supported");
  for (StringRef descr : {"<c8", "|O", "<U4", "|S3", "<M8[ns]", "<f16", ""})
    EXPECT_NE(getError(makeFile(makeHeader(descr, "(1,)"), "abcdefghabcdefgh"))
                  .find("are not supported"),
              std::string::npos)
        << descr.str();
  EXPECT_NE(getError(makeFile("{'descr': [('a', '<f4')], 'fortran_order': "
                              "False, 'shape': (1,), }",
                              "abcd"))
                .find("a structured type"),
            std::string::npos);
}

TEST_F(NpyTest, RefusesMalformedFiles) {
  std::string good = makeFile(makeHeader("<f4", "(2,)"), "abcdefgh");
  ASSERT_EQ(getError(good), "no error");
  // Every file that ends too early.
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(getError(StringRef(good).take_front(size)), "no error") << size;
  for (StringRef header :
       {"", "{", "[]", "{}", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': None, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': "
        "(2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} more",
        "{'descr: '<f4', 'fortran_order': False, 'shape': (2,)}"})
    EXPECT_NE(getError(makeFile(header, "abcdefgh")), "no error")
        << header.str();
  EXPECT_NE(getError(makeFile(makeHeader("<f4", "(2,)"), "abcdefgh", 4)),
            "no error");
}

TEST_F(NpyTest, SizesThatOverflowAreErrors) {
  for (StringRef shape :
       {"(4294967296, 4294967296)", "(9223372036854775807,)",
        "(9223372036854775808,)", "(99999999999999999999999999,)",
        "(4611686018427387904, 4)"})
    EXPECT_NE(getError(makeFile(makeHeader("<f4", shape), "")), "no error")
        << shape.str();
  std::string deep = "(";
  for (int i = 0; i < 65; ++i)
    deep += "1, ";
  EXPECT_NE(getError(makeFile(makeHeader("<f4", deep + ")"), "abcd")),
            "no error");
}

TEST_F(NpyTest, MissingFilesAreNamed) {
  auto tensor = readNpy("/nonexistent/x.npy", Type(), &context);
  ASSERT_FALSE(tensor);
  EXPECT_EQ(llvm::toString(tensor.takeError()),
            "cannot read '/nonexistent/x.npy': No such file or directory");
}

TEST_F(NpyTest, EveryTypeSurvivesAFile) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("fuse-npy", "npy", path));
  SmallVector<Type> types = {b.getI1Type(), b.getF16Type(), b.getBF16Type(),
                             b.getF32Type(), b.getF64Type()};
  for (unsigned width : {8, 16, 32, 64}) {
    types.push_back(b.getIntegerType(width));
    types.push_back(b.getIntegerType(width, /*isSigned=*/false));
  }
  for (Type type : types)
    for (const SmallVector<int64_t> &shape :
         std::vector<SmallVector<int64_t>>{{}, {3}, {2, 0}, {2, 1, 3}}) {
      HostTensor tensor = std::move(*HostTensor::create(shape, type));
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        tensor.setInt(i, i % 2);
      llvm::Error error = writeNpy(path, tensor);
      ASSERT_FALSE(error) << llvm::toString(std::move(error));
      auto back = readNpy(path, type, &context);
      ASSERT_TRUE(static_cast<bool>(back));
      EXPECT_EQ(back->getType(), tensor.getType());
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        EXPECT_EQ(back->getInt(i), i % 2);
    }
  llvm::sys::fs::remove(path);
}

} // namespace
