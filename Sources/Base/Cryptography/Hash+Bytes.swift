extension Hash {
  /// The SHA-256 of bytes in memory.
  package static func sha256(of bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let hash = try sha256()
    try hash.update(bytes)
    return try hash.digest()
  }
}
