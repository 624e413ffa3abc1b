/// Compresses bytes in memory into one gzip member.
package enum GzipBytes {
  package static func pack(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = []
    GzipDeflater(level: -1).consume(bytes.span, isLast: true) { piece in
      for index in piece.indices { packed.append(piece[index]) }
    }
    return packed
  }
}
