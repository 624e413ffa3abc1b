package import JSONFormat

/// The limits on the fields of a product beyond the 25.
public enum ExtraLimits {
  /// The maximum size of the object as JSON, in bytes.
  public static let byteCount = 65_536
  /// The maximum number of fields of the object.
  public static let fieldCount = 4096
  /// The maximum nesting depth; the object itself is the first level.
  public static let nestingDepth = 16
}

/// A reason why a value cannot be one of the fields beyond the 25.
package enum ExtraProblem: Error, Sendable, Equatable {
  case tooLarge, tooManyFields, tooDeep
  case repeatedKey(String)
}

/// The members of a JSON object in the form in which a product stores them.
///
/// That form is canonical: no white space, keys in byte order, only the escapes that JSON requires, numbers as they
/// were written. So objects with the same content have the same bytes.
package struct ExtraMembers: Sendable {
  private var members: [(key: [UInt8], value: [UInt8])] = []
  private var isSorted = true
  /// The first problem; the object cannot be stored then.
  package private(set) var problem: ExtraProblem?

  package init() {}

  package var isEmpty: Bool { members.isEmpty && problem == nil }

  package mutating func removeAll() {
    members.removeAll(keepingCapacity: true)
    isSorted = true
    problem = nil
  }

  /// Adds a member.
  ///
  /// - Parameters:
  ///   - key: The key, not escaped.
  ///   - value: The value in canonical form.
  package mutating func add(_ key: [UInt8], _ value: [UInt8]) {
    if let last = members.last, !last.key.lexicographicallyPrecedes(key) { isSorted = false }
    members.append((key, value))
  }

  /// Adds a text as a member.
  package mutating func add(_ key: [UInt8], text: Span<UInt8>) {
    var value: [UInt8] = []
    JSONWriter.append(text: text, to: &value)
    add(key, value)
  }

  /// Adds the members of another object.
  package mutating func add(_ other: ExtraMembers) {
    if let problem = other.problem { fail(problem) }
    for member in other.members { add(member.key, member.value) }
  }

  /// Adds the members of another object whose keys this one lacks.
  package mutating func addMissing(_ other: ExtraMembers) {
    let keys = Set(members.map(\.key))
    for member in other.members where !keys.contains(member.key) { add(member.key, member.value) }
  }

  /// Calls `body` with the key and the value in JSON of each member.
  package func forEach(_ body: (_ key: [UInt8], _ value: [UInt8]) -> Void) {
    for member in members { body(member.key, member.value) }
  }

  package mutating func fail(_ problem: ExtraProblem) { if self.problem == nil { self.problem = problem } }

  /// Appends the object to `json`. An object without members is `{}`.
  ///
  /// - Throws: The problem.
  package mutating func append(to json: inout [UInt8]) throws(ExtraProblem) {
    if let problem { throw problem }
    if !isSorted {
      members.sort { $0.key.lexicographicallyPrecedes($1.key) }
      isSorted = true
      for index in members.indices.dropFirst() where members[index].key == members[index - 1].key {
        throw .repeatedKey(String(decoding: members[index].key, as: UTF8.self))
      }
    }
    guard members.count <= ExtraLimits.fieldCount else { throw .tooManyFields }
    let start = json.count
    JSONWriter.append(members, in: .object, to: &json) { member, json in
      JSONWriter.append(text: member.key.span, to: &json)
      json.append(UInt8(ascii: ":"))
      json += member.value
    }
    guard json.count - start <= ExtraLimits.byteCount else { throw .tooLarge }
  }
}

/// A reader that takes the tokens of one JSON value and writes it in the form of ``ExtraMembers``.
package struct ExtraValueReader: Sendable {
  private enum Level {
    case object(ExtraMembers, key: [UInt8])
    case array([UInt8])
  }

  private var levels: [Level] = []
  private var problem: ExtraProblem?
  private var byteCount = 0
  private let maximumDepth: Int
  /// The members of the value, if it is complete and an object.
  package private(set) var members = ExtraMembers()
  /// The value in canonical form, if it is complete and valid.
  package private(set) var value: [UInt8] = []

  /// Creates a reader of an object, or of the value of one of its members.
  package init(isMember: Bool = false) { maximumDepth = ExtraLimits.nestingDepth - (isMember ? 1 : 0) }

  /// Takes the next token, which `tokens` has just returned. Returns whether the value is complete.
  package mutating func take(_ token: JSONToken, _ tokens: borrowing JSONTokenizer) -> Bool {
    switch token {
    case .beginObject: return begin(.object(ExtraMembers(), key: []))
    case .beginArray: return begin(.array([]))
    case .endObject, .endArray: return end()
    case .key:
      let key = tokens.withText { Self.copy($0) }
      grow(by: key.count)
      if problem == nil, case .object(let members, _)? = levels.popLast() { levels.append(.object(members, key: key)) }
      return false
    case .string:
      var text: [UInt8] = []
      tokens.withText { JSONWriter.append(text: $0, to: &text) }
      return add(text)
    case .number: return add(tokens.withText { Self.copy($0) })
    case .true: return add(Array("true".utf8))
    case .false: return add(Array("false".utf8))
    case .null: return add(Array("null".utf8))
    case .needsInput, .endOfDocument, .stringPart, .stringEnd: return false
    }
  }

  /// The number of open levels, also of those that are too deep to be kept.
  private var depth = 0

  private mutating func begin(_ level: Level) -> Bool {
    depth += 1
    if depth > maximumDepth { problem = problem ?? .tooDeep }
    if problem == nil { levels.append(level) }
    return false
  }

  private mutating func end() -> Bool {
    depth -= 1
    guard problem == nil, let level = levels.popLast() else { return complete([]) }
    var bytes: [UInt8] = []
    switch level {
    case .object(var members, _):
      do { try members.append(to: &bytes) } catch { problem = error }
      self.members = members
    case .array(let elements):
      bytes = [UInt8(ascii: "[")] + elements + [UInt8(ascii: "]")]
    }
    return complete(bytes)
  }

  private mutating func add(_ bytes: [UInt8]) -> Bool {
    grow(by: bytes.count)
    return complete(bytes)
  }

  private mutating func grow(by count: Int) {
    byteCount += count
    if byteCount > ExtraLimits.byteCount { problem = problem ?? .tooLarge }
    if problem != nil { levels = [] }
  }

  private mutating func complete(_ bytes: [UInt8]) -> Bool {
    if depth == 0 {
      value = bytes
      if let problem { members.fail(problem) }
      return true
    }
    if problem != nil {
      levels = []
      return false
    }
    switch levels.popLast() {
    case .object(var members, let key)?:
      members.add(key, bytes)
      levels.append(.object(members, key: []))
    case .array(var elements)?:
      if !elements.isEmpty { elements.append(UInt8(ascii: ",")) }
      elements += bytes
      levels.append(.array(elements))
    case nil: break
    }
    return false
  }

  private static func copy(_ span: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(copying: span)
    return bytes
  }
}

extension ExtraMembers {
  /// Reads a JSON object; `nil` for text that is something else.
  package init?(json: Span<UInt8>) {
    var tokens = JSONTokenizer(limits: JSONLimits(tokenByteCount: 1 << 20))
    tokens.append(json)
    tokens.finish()
    var reader = ExtraValueReader()
    do {
      var token = try tokens.next()
      guard token == .beginObject else { return nil }
      while !reader.take(token, tokens) {
        token = try tokens.next()
        if token == .endOfDocument || token == .needsInput { return nil }
      }
      guard try tokens.next() == .endOfDocument else { return nil }
    } catch { return nil }
    // Half of a surrogate pair is no text.
    if tokens.replacedSurrogates > 0 { return nil }
    self = reader.members
  }

  /// Whether `json` is an object in the form in which products store it, within the limits and not empty.
  package static func isCanonical(_ json: Span<UInt8>) -> Bool {
    guard json.count > 2, json.count <= ExtraLimits.byteCount, var members = ExtraMembers(json: json) else {
      return false
    }
    var bytes: [UInt8] = []
    do { try members.append(to: &bytes) } catch { return false }
    guard bytes.count == json.count else { return false }
    for index in bytes.indices where bytes[index] != json[index] { return false }
    return true
  }
}

extension ExtraProblem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooLarge: "the fields beyond the 25 have more than \(ExtraLimits.byteCount) bytes"
    case .tooManyFields: "there are more than \(ExtraLimits.fieldCount) fields beyond the 25"
    case .tooDeep: "the fields beyond the 25 are nested more than \(ExtraLimits.nestingDepth) levels deep"
    case .repeatedKey(let key): "the key \"\(key.prefix(60))\" is there twice"
    }
  }
}
