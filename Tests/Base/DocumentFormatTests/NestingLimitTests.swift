import DocumentFormat
import Testing

/// What is written can be read back: nobody gets a document into a store that it cannot be got out of.
@Suite struct NestingLimitTests {
  /// So many objects inside each other.
  final class Nest: Codable {
    let inner: Nest?

    init(levels: Int) { inner = levels > 1 ? Nest(levels: levels - 1) : nil }

    var levels: Int { 1 + (inner?.levels ?? 0) }
  }

  struct Holder: Codable {
    var value: DocumentValue
  }

  /// Containers that a type asks for itself.
  struct Containers: Encodable {
    let levels: Int

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      for _ in 1..<levels { container = container.nestedUnkeyedContainer() }
    }
  }

  private static func value(levels: Int) -> DocumentValue {
    (1..<levels).reduce(DocumentValue.array([])) { value, _ in .array([value]) }
  }

  private let most = DocumentLimits.nestingDepth

  @Test func `the deepest nesting is read back`() throws {
    let nest = try DocumentEncoder().encode(Nest(levels: most))
    #expect(try DocumentDecoder().decode(Nest.self, from: nest).levels == most)
    let holder = try DocumentEncoder().encode(Holder(value: Self.value(levels: most - 1)))
    #expect(try DocumentDecoder().decode(Holder.self, from: holder).value == Self.value(levels: most - 1))
    let containers = try DocumentEncoder().encode(Containers(levels: most))
    #expect(try DocumentValue(documentBytes: containers.rawSpan) == Self.value(levels: most))
    let value = try DocumentEncoder().encode(Self.value(levels: most))
    #expect(try DocumentValue(documentBytes: value.rawSpan) == Self.value(levels: most))
  }

  @Test func `one level more is refused`() {
    #expect(throws: EncodingError.self) { try DocumentEncoder().encode(Nest(levels: most + 1)) }
    #expect(throws: EncodingError.self) { try DocumentEncoder().encode(Holder(value: Self.value(levels: most))) }
    #expect(throws: EncodingError.self) { try DocumentEncoder().encode(Containers(levels: most + 1)) }
    #expect(throws: EncodingError.self) { try DocumentEncoder().encode(Self.value(levels: most + 1)) }
  }

  @Test func `however deep, the stack holds`() {
    #expect(throws: EncodingError.self) { try DocumentEncoder().encode(Containers(levels: 5000)) }
  }
}
