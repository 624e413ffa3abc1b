import Bytes
import Essentials

extension DocumentValue {
  /// Decodes a document.
  ///
  /// If two fields have the same name, the first one is used.
  ///
  /// - Throws: `DocumentError` if the bytes are not exactly one document of the subset in
  ///   `Documentation/Format/Documents.md`.
  public init(documentBytes bytes: RawSpan) throws(DocumentError) {
    var offset = 0
    self = try DocumentValue(bytes, &offset, depth: 0)
    guard offset == bytes.byteCount else { throw .trailingBytes(offset: offset) }
  }

  /// Decodes the value at `offset` and advances past it. A count in the bytes never determines how much memory is
  /// reserved.
  init(_ bytes: RawSpan, _ offset: inout Int, depth: Int) throws(DocumentError) {
    let start = offset
    switch try bytes.item(at: start) {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .unsigned(let value): self = .unsigned(value)
    case .double(let value): self = .double(value)
    case .date(let value): self = .date(value)
    case .bytes(let range):
      self = .bytes(bytes.extracting(range).copied())
      offset = range.upperBound
      return
    case .text(let range):
      guard let text = bytes.string(range) else { throw .invalidUTF8(offset: start) }
      self = .text(text)
      offset = range.upperBound
      return
    case .array(let list):
      guard depth < DocumentLimits.nestingDepth else { throw .nestedTooDeeply(offset: start) }
      self = .array(try Self.elements(bytes, list, &offset, depth + 1))
      return
    case .object(let list):
      guard depth < DocumentLimits.nestingDepth else { throw .nestedTooDeeply(offset: start) }
      self = .object(try Self.fields(bytes, list, &offset, depth + 1))
      return
    }
    offset = try bytes.skip(start)
  }

  private static func elements(
    _ bytes: RawSpan, _ list: ItemList, _ offset: inout Int, _ depth: Int
  ) throws(DocumentError) -> [DocumentValue] {
    var elements: [DocumentValue] = []
    offset = list.start
    var remaining = list.count ?? .max
    while remaining > 0 {
      if list.count == nil, try bytes.isBreak(at: offset) {
        offset += 1
        break
      }
      elements.append(try DocumentValue(bytes, &offset, depth: depth))
      remaining -= 1
    }
    return elements
  }

  private static func fields(
    _ bytes: RawSpan, _ list: ItemList, _ offset: inout Int, _ depth: Int
  ) throws(DocumentError) -> [Field] {
    var fields: [Field] = []
    var known: Set<[UInt8]> = []
    offset = list.start
    var remaining = list.count ?? .max
    while remaining > 0 {
      if list.count == nil, try bytes.isBreak(at: offset) {
        offset += 1
        break
      }
      let name = try bytes.name(at: offset)
      offset = name.upperBound
      let value = try DocumentValue(bytes, &offset, depth: depth)
      if known.insert(bytes.extracting(name).copied()).inserted {
        fields.append(Field(bytes.repairedString(name), value))
      }
      remaining -= 1
    }
    return fields
  }

  /// The encoded document: shortest heads, definite lengths, fields in order.
  ///
  /// - Precondition: Arrays and objects are nested at most ``DocumentLimits/nestingDepth`` levels deep; otherwise
  ///   readers reject the bytes.
  public var documentBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendItem(self)
    return bytes
  }
}

extension DocumentValue {
  /// Whether arrays and objects are nested more than `levels` levels deep.
  ///
  /// - Complexity: O(values), down to that level.
  func isNested(deeperThan levels: Int) -> Bool {
    switch self {
    case .array(let elements): levels <= 0 || elements.contains { $0.isNested(deeperThan: levels - 1) }
    case .object(let fields): levels <= 0 || fields.contains { $0.value.isNested(deeperThan: levels - 1) }
    default: false
    }
  }
}

extension Array where Element == UInt8 {
  mutating func appendItem(_ value: DocumentValue) {
    switch value {
    case .null: append(Initial.null)
    case .bool(let value): appendItem(value)
    case .integer(let value): appendItem(value)
    case .unsigned(let value): appendHead(Major.unsigned, value)
    case .double(let value): appendItem(value)
    case .text(let value): appendItem(value)
    case .date(let value): appendItem(value)
    case .bytes(let value):
      appendHead(Major.bytes, UInt64(value.count))
      append(contentsOf: value)
    case .array(let elements):
      appendHead(Major.array, UInt64(elements.count))
      for element in elements { appendItem(element) }
    case .object(let fields):
      appendHead(Major.map, UInt64(fields.count))
      for field in fields {
        appendItem(field.name)
        appendItem(field.value)
      }
    }
  }
}
