import Bytes
import DocumentFormat
import Foundation
import RandomTestSupport
import Testing

@Suite struct HostileBytesTests {
  /// Gives the bytes to everything that reads documents; nothing may trap, and all agree on what is valid.
  private func read(_ input: [UInt8], _ conditions: [CompiledCondition], _ path: FieldPath) throws {
    let value = try? DocumentValue(documentBytes: input.rawSpan)
    try withView(input) { view throws in
      let isValid = (try? view.validate()) != nil
      #expect(isValid == (value != nil), "\(input)")
      if let value {
        #expect(try DocumentValue(documentBytes: value.documentBytes.rawSpan) == value)
      }
      for condition in conditions {
        let answer = try? condition.matches(view)
        if isValid { #expect(answer != nil) }
      }
      _ = try? view.forEachIndexKey(at: path, withPrefixes: true) { #expect($0.bytes.count <= 40) }
      _ = try? Ordering([.init(path)]).sortKey(of: view)
      _ = try? view.byteCount()
    }
    _ = try? DocumentDecoder().decode(Shape.self, from: input)
    _ = try? DocumentDecoder().decode(DocumentValue.self, from: input)
    _ = try? DocumentDecoder().decode([String: [Int]].self, from: input)
    let known = value.map { _ in input } ?? [0xA0]
    _ = try? DocumentMerge.keepingUnknownFields(old: input, oldAsKnown: known, new: input)
    _ = try? DocumentMerge.keepingUnknownFields(old: input, oldAsKnown: [0xA0], new: input)
  }

  @Test func `random and mutated bytes never trap`() throws {
    var random = RandomDocuments(for: "hostile bytes")
    let conditions = (0..<20).map { _ in CompiledCondition(random.condition()) }
    for round in 0..<(3000 * depth) {
      var input: [UInt8]
      if round % 4 == 0 {
        input = random.generator.bytes(random.int(0..<40))
      } else {
        input = random.object().documentBytes
        for _ in 0..<random.int(0..<4) where !input.isEmpty {
          let place = random.int(0..<input.count)
          switch random.int(0..<5) {
          case 0: input[place] = UInt8(truncatingIfNeeded: random.generator.next())
          case 1: input[place] ^= 1 << UInt8(random.int(0..<8))
          case 2: input.removeSubrange(place...)
          case 3: input.insert(random.pick([0x9F, 0xBF, 0xFF, 0x7F, 0xC1, 0x9B, 0xBB, 0x5B]), at: place)
          default: input.remove(at: place)
          }
        }
      }
      try read(input, conditions, random.path())
    }
  }

  @Test func `deep nesting overflows no stack`() throws {
    let condition = CompiledCondition(.compare(try FieldPath(names: ["a"]), .equal, .integer(1)))
    for pattern in [[0x81], [0x9F], [0xA1, 0x61, 0x61], [0xBF, 0x61, 0x61], [0xD9, 0xD9, 0xF7], [0xC1]] as [[UInt8]] {
      try read(Array(repeatElement(pattern, count: 100_000).joined()), [condition], FieldPath(names: ["a"]))
      try read(Array(repeatElement(pattern, count: 300).joined()) + [0xF6], [condition], FieldPath(names: ["a", "a"]))
    }
  }

  /// Something to decode with a bit of everything.
  struct Shape: Codable {
    struct Inner: Codable {
      var b: [Double]?
      var c: Date?
    }
    var a: Int?
    var b: String?
    var user: Inner?
    var c: [Inner]?
  }
}
