import Bytes
@testable import Catalog
@testable import Workspace

/// Values that the catalogue packs: times, decimals, the state of a commit, lengths of texts.
@Sendable func fuzzPacked(_ bytes: [UInt8]) {
  var input = Input(bytes)
  switch input.byte() % 4 {
  case 0:
    let text = Array(input.rest)
    if let bits = PackedTime.pack(text.rawSpan) {
      require(bits < 1 << 40, "time: more than 40 bits")
      require(Array(PackedTime.text(bits).utf8) == text, "time: another text when unpacked")
    }
  case 1:
    let word = Array(input.bytes(8)) + [UInt8](repeating: 0, count: 8)
    let value = Double(bitPattern: word.rawSpan.u64(at: 0))
    if let bits = PackedDecimal.pack(value) {
      require(PackedDecimal.unpack(bits).bitPattern == value.bitPattern, "decimal: another one when unpacked")
    }
    let any = word.rawSpan.u32(at: 0)
    let short = PackedDecimal.unpack(any)
    // The one mantissa that is never written, as its opposite has no room.
    if any >> 3 != 1 << 28 {
      let bits = PackedDecimal.pack(short)
      require(bits.map(PackedDecimal.unpack)?.bitPattern == short.bitPattern, "decimal: not packed again")
    }
  case 2:
    if let state = CatalogState(Array(input.rest)) {
      require(CatalogState(state.encoded) == state, "state: another one when written and read")
    }
  default:
    let body = Array(input.rest)
    if let range = body.rawSpan.textRange(at: 0) {
      require(range.upperBound <= body.count, "text: it reaches outside")
      var written: [UInt8] = []
      written.putText(body.rawSpan.extracting(range))
      require(written.count <= range.upperBound && written.suffix(range.count) == body[range], "text: other bytes")
    }
  }
}

/// The name of a user's directory: safe, its own, and the way back.
@Sendable func fuzzUsers(_ bytes: [UInt8]) {
  let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
  let ids = parts.compactMap { String(validating: $0, as: UTF8.self) }.filter { !$0.isEmpty }
  for id in ids { checkUser(id) }
  if ids.count == 2, Array(ids[0].utf8) != Array(ids[1].utf8) {
    let names = ids.map { UserDirectory.path(of: $0).joined(separator: "/").lowercased() }
    require(names[0] != names[1], "two users share \(names[0])")
  }
  // Any text as the name of a directory that somebody else made.
  let name = String(decoding: bytes, as: UTF8.self)
  if let id = UserDirectory.id(of: name) {
    require(joined(UserDirectory.path(of: id)).utf8.elementsEqual(name.utf8), "\(name.debugDescription) is no name")
  }
}

private func checkUser(_ id: String) {
  let path = UserDirectory.path(of: id)
  for (index, part) in path.enumerated() {
    require(!part.isEmpty && part.utf8.count <= 200 && !part.hasPrefix("."), "a bad name: \(part.debugDescription)")
    require(part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }, "a bad byte in \(part)")
    require(part.hasSuffix("+") == (index < path.count - 1), "a plus in the wrong place: \(part)")
  }
  let again = UserDirectory.id(of: joined(path))
  require(again.map { $0.utf8.elementsEqual(id.utf8) } == true, "no way back to \(id.debugDescription)")
}

private func joined(_ path: [String]) -> String {
  path.map { $0.hasSuffix("+") ? String($0.dropLast()) : $0 }.joined()
}
