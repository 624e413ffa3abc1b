import JSONStream

/// A value of a request's body.
enum JSONBody: Sendable, Equatable {
  case null
  case bool(Bool)
  /// A number; `nil` where it is no integer of 64 bits.
  case number(Int64?)
  case text(String)
  case array([JSONBody])
  /// Of several members with one name the first counts.
  case object([String: JSONBody])

  /// Levels of arrays and objects that a body may have.
  static let nestingLimit = 16

  /// - Throws: a refusal with status 400, which says where.
  init(_ bytes: [UInt8], nestingLimit: Int = Self.nestingLimit) throws(Refusal) {
    var tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: nestingLimit, tokenByteCount: max(bytes.count, 1)))
    tokens.append(bytes.span)
    tokens.finish()
    do throws(JSONError) {
      self = try Self.value(tokens.next(), &tokens)
      // What follows the value is white space, or refused here.
      _ = try tokens.next()
    } catch {
      throw .badRequest("the body is no JSON: \(error)")
    }
  }

  /// The value that begins with a token. The tokenizer bounds how deep this goes.
  private static func value(
    _ token: JSONToken, _ tokens: inout JSONTokenizer
  ) throws(JSONError) -> JSONBody {
    switch token {
    case .string: return .text(tokens.textString)
    case .number: return .number(tokens.int64Value)
    case .true: return .bool(true)
    case .false: return .bool(false)
    case .beginArray:
      var values: [JSONBody] = []
      while true {
        let token = try tokens.next()
        if token == .endArray { return .array(values) }
        values.append(try value(token, &tokens))
      }
    case .beginObject:
      var members: [String: JSONBody] = [:]
      while try tokens.next() == .key {
        let name = tokens.textString
        let value = try value(tokens.next(), &tokens)
        if members[name] == nil { members[name] = value }
      }
      return .object(members)
    // The others begin no value: the tokenizer does not give them here.
    case .null, .needsInput, .endOfDocument, .endObject, .endArray, .key, .stringPart, .stringEnd: return .null
    }
  }

  /// The members of an object.
  ///
  /// - Throws: a refusal with status 400 where it is none.
  func members(_ what: String = "the body") throws(Refusal) -> BodyMembers {
    guard case .object(let members) = self else { throw .badRequest("\(what): a JSON object") }
    return BodyMembers(members: members)
  }
}

/// The members of a body, by type. A member that is null counts as absent, and unknown ones are ignored.
struct BodyMembers: Sendable {
  fileprivate let members: [String: JSONBody]

  init() { members = [:] }

  fileprivate init(members: [String: JSONBody]) { self.members = members }

  subscript(name: String) -> JSONBody? {
    let member = members[name]
    return member == .null ? nil : member
  }

  func bool(_ name: String) throws(Refusal) -> Bool? {
    guard let member = self[name] else { return nil }
    guard case .bool(let value) = member else { throw .badRequest("\(name): true or false") }
    return value
  }

  func text(_ name: String) throws(Refusal) -> String? {
    guard let member = self[name] else { return nil }
    guard case .text(let value) = member else { throw .badRequest("\(name): a text") }
    return value
  }

  func texts(_ name: String) throws(Refusal) -> [String]? {
    guard let member = self[name] else { return nil }
    let refusal = Refusal.badRequest("\(name): an array of text")
    guard case .array(let values) = member else { throw refusal }
    var texts: [String] = []
    for value in values {
      guard case .text(let text) = value else { throw refusal }
      texts.append(text)
    }
    return texts
  }

  func objects(_ name: String) throws(Refusal) -> [BodyMembers]? {
    guard let member = self[name] else { return nil }
    let refusal = Refusal.badRequest("\(name): an array of objects")
    guard case .array(let values) = member else { throw refusal }
    var objects: [BodyMembers] = []
    for value in values {
      guard case .object(let members) = value else { throw refusal }
      objects.append(BodyMembers(members: members))
    }
    return objects
  }
}
