//===- Npy.cpp - numpy's file format --------------------------------------===//

#include "FuseDialect/Engine/Npy.h"
#include "FuseDialect/Engine/EngineError.h"
#include "FuseDialect/Engine/OutputFile.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fuse;

static constexpr llvm::StringLiteral kMagic("\x93NUMPY");
/// More dimensions than numpy has (64): a file with more is not one of its own.
static constexpr size_t kMaxRank = 64;

namespace {
/// What a header says.
struct Header {
  std::string type;
  bool isFortran = false;
  SmallVector<int64_t> shape;
};

/// Parses the header's Python literal: a dictionary with the keys 'descr',
/// 'fortran_order' and 'shape', each once.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  /// None, with getError() set, if it is malformed.
  std::optional<Header> parse() {
    Header header;
    bool hasType = false, hasOrder = false, hasShape = false;
    if (!expect("{"))
      return std::nullopt;
    while (!consume("}")) {
      std::string key;
      if (!parseString(key) || !expect(":"))
        return std::nullopt;
      bool *seen = key == "descr"           ? &hasType
                   : key == "fortran_order" ? &hasOrder
                   : key == "shape"         ? &hasShape
                                            : nullptr;
      if (!seen || *seen)
        return fail((seen ? "a repeated" : "an unknown") + Twine(" key '") +
                    key + "'");
      *seen = true;
      if (seen == &hasType    ? !parseType(header.type)
          : seen == &hasOrder ? !parseBool(header.isFortran)
                              : !parseShape(header.shape))
        return std::nullopt;
      if (!consume(",")) {
        if (!expect("}"))
          return std::nullopt;
        break;
      }
    }
    if (!hasType || !hasOrder || !hasShape)
      return fail("no 'descr', 'fortran_order' or 'shape'");
    if (!rest.trim().empty())
      return fail("text after the dictionary");
    return header;
  }
  const std::string &getError() const { return error; }

private:
  std::nullopt_t fail(const Twine &message) {
    if (error.empty())
      error = message.str();
    return std::nullopt;
  }
  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool expect(StringRef token) {
    if (consume(token))
      return true;
    fail("no '" + token + "' where one is expected");
    return false;
  }
  bool parseString(std::string &value) {
    rest = rest.ltrim();
    char quote = rest.empty() ? '\0' : rest.front();
    size_t end =
        quote == '\'' || quote == '"' ? rest.find(quote, 1) : StringRef::npos;
    if (end == StringRef::npos) {
      fail("no string where one is expected");
      return false;
    }
    value = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1);
    return true;
  }
  /// A plain type is a string, a structured one a list.
  bool parseType(std::string &type) {
    if (consume("[")) {
      fail("a structured type, which is not supported");
      return false;
    }
    return parseString(type);
  }
  bool parseBool(bool &value) {
    value = consume("True");
    if (value || consume("False"))
      return true;
    fail("'fortran_order' is neither True nor False");
    return false;
  }
  bool parseShape(SmallVectorImpl<int64_t> &shape) {
    if (!expect("("))
      return false;
    while (!consume(")")) {
      rest = rest.ltrim();
      uint64_t extent;
      if (rest.consumeInteger(10, extent) || extent > INT64_MAX) {
        fail("an extent that is not a number of 63 bits");
        return false;
      }
      // Python 2 wrote long integers with a suffix.
      rest.consume_front("L");
      shape.push_back(static_cast<int64_t>(extent));
      if (shape.size() > kMaxRank) {
        fail("more than " + Twine(kMaxRank) + " dimensions");
        return false;
      }
      if (!consume(",")) {
        if (!expect(")"))
          return false;
        break;
      }
    }
    return true;
  }

  StringRef rest;
  std::string error;
};
} // namespace

/// The element type for a `descr`, or an error that names it.
static llvm::Expected<Type> getElementType(StringRef descr, Type wanted,
                                           MLIRContext *context) {
  Builder b(context);
  StringRef code = descr;
  char order = code.empty() ? '\0' : code.front();
  if (StringRef("<>|=").contains(order))
    code = code.drop_front();
  if (order == '>' && !code.ends_with("1"))
    return makeError("elements of type '" + descr +
                     "' are big-endian, which is not supported");
  if (wanted && wanted.isBF16() && (code == "V2" || code == "u2"))
    return wanted;
  Type type = llvm::StringSwitch<Type>(code)
                  .Cases({"b1", "?"}, b.getI1Type())
                  .Case("i1", b.getI8Type())
                  .Case("i2", b.getI16Type())
                  .Case("i4", b.getI32Type())
                  .Case("i8", b.getI64Type())
                  .Case("u1", b.getIntegerType(8, false))
                  .Case("u2", b.getIntegerType(16, false))
                  .Case("u4", b.getIntegerType(32, false))
                  .Case("u8", b.getIntegerType(64, false))
                  .Case("f2", b.getF16Type())
                  .Case("f4", b.getF32Type())
                  .Case("f8", b.getF64Type())
                  .Default(Type());
  if (!type)
    return makeError("elements of type '" + descr + "' are not supported");
  return type;
}

/// The codes of getElementType, with the byte order.
static StringRef getTypeCode(ElementKind kind) {
  switch (kind) {
  case ElementKind::boolean:
    return "|b1";
  case ElementKind::i8:
    return "|i1";
  case ElementKind::i16:
    return "<i2";
  case ElementKind::i32:
    return "<i4";
  case ElementKind::i64:
    return "<i8";
  case ElementKind::u8:
    return "|u1";
  case ElementKind::u16:
    return "<u2";
  case ElementKind::u32:
    return "<u4";
  case ElementKind::u64:
    return "<u8";
  case ElementKind::f16:
    return "<f2";
  case ElementKind::bf16:
    return "<V2";
  case ElementKind::f32:
    return "<f4";
  case ElementKind::f64:
    return "<f8";
  }
  llvm_unreachable("all element kinds are handled");
}

/// Splits a file into the header's text and the elements' bytes.
static llvm::Error split(StringRef bytes, StringRef &header, StringRef &data) {
  if (!bytes.consume_front(kMagic) || bytes.size() < 2)
    return makeError("it is not an .npy file");
  int version = static_cast<unsigned char>(bytes[0]);
  bytes = bytes.drop_front(2);
  if (version < 1 || version > 3)
    return makeError("format version " + Twine(version) + " is not supported");
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (bytes.size() < lengthBytes)
    return makeError("the header is truncated");
  size_t length = version == 1 ? llvm::support::endian::read16le(bytes.data())
                               : llvm::support::endian::read32le(bytes.data());
  bytes = bytes.drop_front(lengthBytes);
  if (bytes.size() < length)
    return makeError("the header is truncated");
  header = bytes.take_front(length);
  data = bytes.drop_front(length);
  return llvm::Error::success();
}

/// Copies elements whose first index varies fastest into row-major order.
static void copyFortran(HostTensor &tensor, const char *from) {
  ArrayRef<int64_t> shape = tensor.getShape();
  int64_t size = getElementBytes(tensor.getKind());
  SmallVector<int64_t> strides;
  int64_t stride = size;
  for (int64_t extent : shape) {
    strides.push_back(stride);
    stride *= extent;
  }
  SmallVector<int64_t> index(shape.size(), 0);
  auto *to = static_cast<char *>(tensor.getData());
  int64_t offset = 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i, to += size) {
    std::memcpy(to, from + offset, size);
    for (int64_t dim = tensor.getRank() - 1; dim >= 0; --dim) {
      offset += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      offset -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

/// parseNpy without the file's name in the messages.
static llvm::Expected<HostTensor> parse(StringRef bytes, Type elementType,
                                        MLIRContext *context) {
  StringRef text, data;
  if (llvm::Error error = split(bytes, text, data))
    return error;
  HeaderParser parser(text);
  std::optional<Header> header = parser.parse();
  if (!header)
    return makeError("its header has " + parser.getError());
  llvm::Expected<Type> type =
      getElementType(header->type, elementType, context);
  if (!type)
    return type.takeError();

  // The data bounds the size: a small file cannot make a large allocation.
  int64_t numBytes = getElementBytes(*getElementKind(*type));
  bool isEmpty = llvm::is_contained(header->shape, 0);
  for (int64_t extent : header->shape)
    if (!isEmpty && llvm::MulOverflow(numBytes, extent, numBytes))
      return makeError("its size does not fit 63 bits");
  if (isEmpty)
    numBytes = 0;
  if (data.size() < static_cast<uint64_t>(numBytes))
    return makeError("expected " + Twine(numBytes) + " bytes of data but got " +
                     Twine(data.size()));
  std::optional<HostTensor> tensor = HostTensor::create(header->shape, *type);
  if (!tensor)
    return makeError("there is not enough memory for " + Twine(numBytes) +
                     " bytes");
  if (header->isFortran && numBytes)
    copyFortran(*tensor, data.data());
  else
    std::memcpy(tensor->getData(), data.data(), numBytes);
  if (tensor->getKind() == ElementKind::boolean)
    for (uint8_t &value : tensor->getValues<uint8_t>())
      value = value != 0;
  return std::move(*tensor);
}

llvm::Expected<HostTensor> mlir::fuse::parseNpy(StringRef bytes, StringRef name,
                                                Type elementType,
                                                MLIRContext *context) {
  llvm::Expected<HostTensor> tensor = parse(bytes, elementType, context);
  if (!tensor)
    return makeError("cannot read '" + name +
                     "': " + llvm::toString(tensor.takeError()));
  return tensor;
}

llvm::Expected<HostTensor> mlir::fuse::readNpy(StringRef path, Type elementType,
                                               MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read '" + path +
                     "': " + buffer.getError().message());
  return parseNpy((*buffer)->getBuffer(), path, elementType, context);
}

llvm::Error mlir::fuse::writeNpy(StringRef path, const HostTensor &tensor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{'descr': '" << getTypeCode(tensor.getKind())
     << "', 'fortran_order': False, 'shape': (";
  llvm::interleaveComma(tensor.getShape(), os);
  // A tuple of one element has a comma.
  os << (tensor.getRank() == 1 ? ",), }" : "), }");
  // The data starts at a multiple of 64 bytes; the header ends in a line feed.
  constexpr size_t prefix = kMagic.size() + 4;
  size_t length = llvm::alignTo(prefix + text.size() + 1, 64) - prefix;
  text.resize(length - 1, ' ');
  text += '\n';
  return writeFile(path, [&](llvm::raw_pwrite_stream &file) {
    char lengthBytes[2];
    llvm::support::endian::write16le(lengthBytes, length);
    file << kMagic << '\1' << '\0' << StringRef(lengthBytes, 2) << text;
    file.write(static_cast<const char *>(tensor.getData()),
               tensor.getNumBytes());
    return llvm::Error::success();
  });
}
