import Bytes
import Essentials

// The unsafe code of this module: conversion between bytes and text or data. Everything else is memory-safe Swift.

extension RawSpan {
  /// The bytes of `range` as a string; `nil` if they are not valid UTF-8.
  func string(_ range: Range<Int>) -> String? {
    // ASCII needs no further validation, and the other initializer is not specialized.
    if extracting(range).isASCII { return repairedString(range) }
    // The pointer is used inside the call only.
    return unsafe extracting(range).withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
  }

  /// The bytes of `range` as a string, with U+FFFD for invalid UTF-8.
  func repairedString(_ range: Range<Int>) -> String {
    // The pointer is used inside the call only.
    unsafe extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// A copy of the bytes of `range`.
  func data(_ range: Range<Int>) -> Data {
    // The pointer is used inside the call only.
    unsafe extracting(range).withUnsafeBytes { unsafe Data($0) }
  }

  /// Whether the bytes are the UTF-8 of `text`.
  @inline(__always)
  func isText(_ text: String) -> Bool {
    hasSameBytes(as: text.utf8.span.rawSpan)
  }

  /// Compares bytewise. Returns a negative number, zero or a positive number if these bytes sort before, equal or after
  /// `other`.
  func order(_ other: RawSpan) -> Int {
    let common = min(byteCount, other.byteCount)
    var offset = 0
    while offset &+ 8 <= common {
      let mine = u64(at: offset)
      let theirs = other.u64(at: offset)
      if mine != theirs { return mine.byteSwapped < theirs.byteSwapped ? -1 : 1 }
      offset &+= 8
    }
    while offset < common {
      let mine = u8(at: offset)
      let theirs = other.u8(at: offset)
      if mine != theirs { return mine < theirs ? -1 : 1 }
      offset &+= 1
    }
    return byteCount == other.byteCount ? 0 : byteCount < other.byteCount ? -1 : 1
  }
}

extension Array where Element == UInt8 {
  /// Appends a copy of `source`.
  @inline(__always)
  mutating func append(copying source: RawSpan) {
    // The buffer is read before the call ends, while the span keeps it alive.
    unsafe source.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}
