/// A single-value decoding container.
struct SingleDecoding: SingleValueDecodingContainer {
  let scope: DecodingScope

  var codingPath: [any CodingKey] { scope.codingPath }

  @inline(__always)
  private func value<T>(_ read: (DecodingSource, Int) throws(DecodingFault) -> T) throws -> T {
    try scope.value(at: scope.offset, nil, read)
  }

  func decodeNil() -> Bool { (try? scope.source.isNull(at: scope.offset)) ?? false }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try scope.read(type, at: scope.offset, nil) }

  func decode(_ type: Bool.Type) throws -> Bool {
    try value { (source, offset) throws(DecodingFault) in try source.bool(at: offset) }
  }

  func decode(_ type: String.Type) throws -> String {
    try value { (source, offset) throws(DecodingFault) in try source.string(at: offset) }
  }

  func decode(_ type: Double.Type) throws -> Double {
    try value { (source, offset) throws(DecodingFault) in try source.double(at: offset) }
  }

  func decode(_ type: Float.Type) throws -> Float {
    try value { (source, offset) throws(DecodingFault) in try source.float(at: offset) }
  }

  func decode(_ type: Int.Type) throws -> Int {
    try value { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: Int8.Type) throws -> Int8 {
    try value { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: Int16.Type) throws -> Int16 {
    try value { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: Int32.Type) throws -> Int32 {
    try value { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: Int64.Type) throws -> Int64 {
    try value { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: UInt.Type) throws -> UInt {
    try value { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: UInt8.Type) throws -> UInt8 {
    try value { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: UInt16.Type) throws -> UInt16 {
    try value { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: UInt32.Type) throws -> UInt32 {
    try value { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: UInt64.Type) throws -> UInt64 {
    try value { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }
}
