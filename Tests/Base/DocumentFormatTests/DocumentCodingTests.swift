import Bytes
import DocumentFormat
import Foundation
import RandomTestSupport
import Testing

@Suite struct DocumentCodingTests {
  /// Encodes, decodes, and gives the document as JSON.
  @discardableResult
  private func survives<T: Codable & Equatable>(_ value: T) throws -> String {
    let bytes = try DocumentEncoder().encode(value)
    #expect(try DocumentDecoder().decode(T.self, from: bytes) == value)
    try withView(bytes) { view throws in try view.validate() }
    let tree = try DocumentValue(documentBytes: bytes.rawSpan)
    // The encoder writes the shortest heads, as the trees do; only a Float differs.
    if !(value is Float) { #expect(tree.documentBytes == bytes) }
    return tree.json
  }

  enum Shape: Codable, Equatable {
    case point
    case circle(radius: Double)
    case polygon([Double], named: String?)
  }

  struct Everything: Codable, Equatable {
    var bool = true
    var int = -5
    var int8 = Int8.min
    var int16 = Int16.min
    var int32 = Int32.min
    var int64 = Int64.min
    var uint = UInt.max
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64.max
    var double = 0.1
    var text = "naïve 王"
    var date = Date(timeIntervalSince1970: 1_700_000_000.25)
    var data = Data([0, 255])
    var uuid = UUID(uuidString: "12345678-1234-1234-1234-123456789ABC")!
    var url = URL(string: "https://example.org/?a=b")!
    var decimal = Decimal(string: "0.1")!
    var nothing: Int?
    var something: Int? = 1
    var shapes: [Shape] = [.point, .circle(radius: 2), .polygon([1, 2.5], named: nil)]
    var names: [String: [Int?]] = ["a": [1, nil, 3]]
    var numbers: [Int: String] = [1: "one"]
    var matrix = [[1.0, 2], [], [3]]
    var set: Set<Int> = [7]
    var free = DocumentValue.object([.init("x", .array([.null, .date(Date(timeIntervalSince1970: 0))]))])
    var optionals: [Date?] = [nil, Date(timeIntervalSince1970: 1)]
  }

  @Test func `types of all shapes survive`() throws {
    try survives(Everything())
    try survives((0..<1000).map { $0 - 500 })
    try survives(Dictionary(uniqueKeysWithValues: (0..<300).map { ("key \($0)", $0) }))
    #expect(try survives(5) == "5")
    #expect(try survives("x") == "\"x\"")
    #expect(try survives([Int]()) == "[]")
    #expect(try survives([String: Int]()) == "{}")
    #expect(try survives(Int?.none) == "null")
    #expect(try survives([Bool?.none]) == "[null]")
    #expect(try survives(Float(0.1)) == String(Double(Float(0.1))))
    #expect(try survives(Date(timeIntervalSince1970: 0)) == "\"1970-01-01T00:00:00Z\"")
    #expect(try survives(Shape.circle(radius: 1)) == "{\"circle\":{\"radius\":1.0}}")
  }

  @Test(arguments: [
    ("0", true), ("12345", true), ("-7", true), ("0.1", true), ("12.34", true), ("1.10", true), ("1e40", true),
    ("123456789.123456789123456789", false), ("9223372036854775808", false),
  ])
  func `decimals are numbers where numbers hold them`(text: String, isNumber: Bool) throws {
    let value = Decimal(string: text)!
    try survives(value)
    #expect(try survives([value, value]).contains("\"") != isNumber)
  }

  @Test func `a date comes back to the precision of its form, and never changes again`() throws {
    var random = RandomDocuments(for: "dates as documents")
    for _ in 0..<500 {
      let date = Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &random.generator))
      let once = try DocumentDecoder().decode(Date.self, from: DocumentEncoder().encode(date))
      #expect(abs(once.timeIntervalSince(date)) < 3e-7)
      try survives(once)
    }
  }

  class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }
  }

  /// Shares the object of its superclass.
  final class Dog: Animal {
    var tricks: [String]
    private enum Key: CodingKey { case tricks }
    init(name: String, tricks: [String]) {
      self.tricks = tricks
      super.init(name: name)
    }
    required init(from decoder: any Decoder) throws {
      tricks = try decoder.container(keyedBy: Key.self).decode([String].self, forKey: .tricks)
      try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(tricks, forKey: .tricks)
      try super.encode(to: encoder)
    }
  }

  /// Gives its superclass an object of its own.
  final class Cat: Animal {
    var lives = 9
    private enum Key: CodingKey { case lives }
    override init(name: String) { super.init(name: name) }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      lives = try container.decode(Int.self, forKey: .lives)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try super.encode(to: container.superEncoder())
      try container.encode(lives, forKey: .lives)
    }
  }

  @Test func `class hierarchies`() throws {
    let dog = try DocumentEncoder().encode(Dog(name: "Rex", tricks: ["sit"]))
    #expect(try DocumentValue(documentBytes: dog.rawSpan).json == #"{"tricks":["sit"],"name":"Rex"}"#)
    #expect(try DocumentDecoder().decode(Dog.self, from: dog).name == "Rex")
    let cat = try DocumentEncoder().encode(Cat(name: "Tom"))
    #expect(try DocumentValue(documentBytes: cat.rawSpan).json == #"{"super":{"name":"Tom"},"lives":9}"#)
    #expect(try DocumentDecoder().decode(Cat.self, from: cat).name == "Tom")
  }

  /// Fills nested containers in turns, which no single pass can write.
  struct Interleaved: Codable, Equatable {
    enum Key: String, CodingKey { case a, b, c, d }
    var count = 30

    init() {}

    func encode(to encoder: any Encoder) throws {
      var outer = encoder.container(keyedBy: Key.self)
      var a = outer.nestedContainer(keyedBy: Key.self, forKey: .a)
      var b = outer.nestedUnkeyedContainer(forKey: .b)
      try outer.encode(count, forKey: .c)
      for index in 0..<count {
        try b.encode(index)
        var inner = b.nestedUnkeyedContainer()
        try inner.encode("\(index)")
      }
      try a.encode("late", forKey: .a)
      try outer.superEncoder(forKey: .d).singleValueContainer().encode2("single")
      var deep = a.nestedContainer(keyedBy: Key.self, forKey: .b)
      try deep.encodeNil(forKey: .a)
    }

    init(from decoder: any Decoder) throws {
      let outer = try decoder.container(keyedBy: Key.self)
      count = try outer.decode(Int.self, forKey: .c)
      let a = try outer.nestedContainer(keyedBy: Key.self, forKey: .a)
      #expect(try a.decode(String.self, forKey: .a) == "late")
      #expect(try a.nestedContainer(keyedBy: Key.self, forKey: .b).decodeNil(forKey: .a))
      var b = try outer.nestedUnkeyedContainer(forKey: .b)
      #expect(b.count == count * 2)
      for index in 0..<count {
        #expect(try b.decode(Int.self) == index)
        var inner = try b.nestedUnkeyedContainer()
        #expect(try inner.decode(String.self) == "\(index)")
        #expect(inner.isAtEnd)
      }
      #expect(b.isAtEnd)
      #expect(try outer.superDecoder(forKey: .d).singleValueContainer().decode(String.self) == "single")
      #expect(outer.allKeys == [.a, .b, .c, .d])
    }
  }

  @Test func `containers may be filled in any order`() throws {
    try survives([Interleaved(), Interleaved()])
  }

  /// A value that fails halfway, and one that goes on without it.
  struct Failing: Encodable {
    struct Failure: Error {}
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode([1, 2, 3])
      _ = container.nestedUnkeyedContainer()
      throw Failure()
    }
  }

  struct Forgiving: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: PlainKey.self)
      try container.encode(1, forKey: "a")
      try? container.encode(Failing(), forKey: "b")
      try container.encode(3, forKey: "c")
    }
  }

  struct PlainKey: CodingKey, ExpressibleByStringLiteral {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringLiteral value: String) { stringValue = value }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  @Test func `a value that fails leaves nothing behind`() throws {
    let bytes = try DocumentEncoder().encode(Forgiving())
    #expect(try DocumentValue(documentBytes: bytes.rawSpan).json == #"{"a":1,"c":3}"#)
    #expect(throws: Failing.Failure.self) { try DocumentEncoder().encode([Failing()]) }
  }

  /// Asks for an object and an array at once.
  struct Confused: Encodable {
    func encode(to encoder: any Encoder) throws {
      _ = encoder.container(keyedBy: PlainKey.self)
      _ = encoder.unkeyedContainer()
    }
  }

  indirect enum Chain: Codable { case end, link(Chain) }

  struct Node: Codable { var next: [Node] }

  @Test func `what a document cannot hold is refused`() {
    #expect(throws: EncodingError.self) { try DocumentEncoder().encode(Confused()) }
    var node = Node(next: [])
    for _ in 0..<200 { node = Node(next: [node]) }
    #expect(throws: EncodingError.self) { try DocumentEncoder().encode(node) }
    #expect(throws: EncodingError.self) { try DocumentEncoder().encode([Int128.max]) }
  }

  struct Small: Codable {
    struct Inner: Codable { var n: UInt8 }
    var list: [Inner]
    var text: String?
  }

  @Test(arguments: [
    (#"{"list": [{"n": 1}, {"n": 300}]}"#, "list/Index 1/n", "does not fit"),
    (#"{"list": [{}]}"#, "list/Index 0", "no field 'n'"),
    (#"{"list": {}}"#, "list", "an object"), (#"{"list": [], "text": 5}"#, "text", "a number"), ("[]", "", "an array"),
    (#"{"list": [null]}"#, "list/Index 0", "null"), (#"{"list": [{"n": 1.5}]}"#, "list/Index 0/n", "does not fit"),
    (#"{"list": null}"#, "list", "null"),
  ])
  func `an error of decoding has the coding path`(json: String, path: String, what: String) throws {
    let bytes = try DocumentValue(json: json).documentBytes
    let error = #expect(throws: DecodingError.self) { try DocumentDecoder().decode(Small.self, from: bytes) }
    let context: DecodingError.Context? =
      switch error {
      case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
        .valueNotFound(_, let context):
        context
      default: nil
      }
    #expect(context?.codingPath.map(\.stringValue).joined(separator: "/") == path)
    #expect(context?.debugDescription.contains(what) == true, "\(String(describing: context))")
  }

  /// A type that keeps its decoder, and the container that it asked for.
  struct Keeper: Decodable {
    let decoder: any Decoder
    let fields: KeyedDecodingContainer<PlainKey>

    init(from decoder: any Decoder) throws {
      self.decoder = decoder
      fields = try decoder.container(keyedBy: PlainKey.self)
    }
  }

  @Test func `a decoder that a type keeps outlives the bytes, and knows its coding path`() throws {
    func decoded() throws -> [String: [Keeper]] {
      let json = #"{"no": [], "yes": [{"a": 1}, {"name": "long enough for an allocation", "a": [[2]]}]}"#
      return try DocumentDecoder().decode([String: [Keeper]].self, from: DocumentValue(json: json).documentBytes)
    }
    let kept = try #require(try decoded()["yes"]?.last)
    #expect(kept.decoder.codingPath.map(\.stringValue) == ["yes", "Index 1"])
    #expect(kept.decoder.codingPath.map(\.intValue) == [nil, 1])
    #expect(try kept.fields.decode(String.self, forKey: "name") == "long enough for an allocation")
    #expect(try kept.decoder.container(keyedBy: PlainKey.self).allKeys.map(\.stringValue) == ["name", "a"])
    var outer = try kept.fields.nestedUnkeyedContainer(forKey: "a")
    let inner = try outer.nestedUnkeyedContainer()
    #expect(inner.codingPath.map(\.stringValue) == ["yes", "Index 1", "a", "Index 0"])
    #expect(try kept.fields.superDecoder(forKey: "a").codingPath.map(\.stringValue) == ["yes", "Index 1", "a"])
  }

  @Test func `damage is an error of decoding with its offset`() throws {
    let error = #expect(throws: DecodingError.self) {
      try DocumentDecoder().decode([String: String].self, from: bytes("a1616162"))
    }
    var underlying: (any Error)?
    if case .dataCorrupted(let context) = error { underlying = context.underlyingError }
    #expect(underlying as? DocumentError == .tooLong(offset: 3))
  }

  @Test func `numbers are decoded by value`() throws {
    #expect(try DocumentDecoder().decode(Int.self, from: bytes("f94000")) == 2)
    #expect(try DocumentDecoder().decode(Double.self, from: bytes("02")) == 2)
    #expect(try DocumentDecoder().decode([Int].self, from: bytes("9f0102ff")) == [1, 2])
    #expect(try DocumentDecoder().decode([String: Int].self, from: bytes("bf616101ff")) == ["a": 1])
  }

  /// Fields in one order, asked for in another, with many that are missing.
  @Test func `fields are found in any order`() throws {
    let fields = (0..<60).map { DocumentValue.Field("f\($0)", .integer($0)) }
    let document = DocumentValue.object(fields).documentBytes
    struct Reversed: Decodable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PlainKey.self)
        for index in (0..<60).reversed() {
          let key = PlainKey(stringLiteral: "f\(index)")
          #expect(try container.decode(Int.self, forKey: key) == index)
          #expect(try container.decodeIfPresent(Int.self, forKey: PlainKey(stringLiteral: "g\(index)")) == nil)
          #expect(container.contains(key))
        }
      }
    }
    _ = try DocumentDecoder().decode(Reversed.self, from: document)
  }
}

extension SingleValueEncodingContainer {
  /// `encode` on a container that is no variable.
  fileprivate func encode2(_ value: String) throws {
    var container = self
    try container.encode(value)
  }
}
