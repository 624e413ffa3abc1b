import JSONFormat

/// A value of a request's body.
enum JSONBody: Sendable, Equatable {
  case null
  case bool(Bool)
  /// A number; `nil` where it is no integer of 64 bits.
  case number(Int64?)
  case text(String)
  case array([JSONBody])
  /// Each name is there once.
  case object([String: JSONBody])

  /// Levels of arrays and objects that a body may have.
  static let nestingLimit = 16
  /// Values that a body may have, those of unknown members and within others included: a small value takes far more memory than
  /// its text. A thousand scans with all that belongs to them are a quarter of it.
  static let valueLimit = 16_384

  /// - Throws: a refusal with status 400, which says where.
  init(
    _ bytes: [UInt8], nestingLimit: Int = Self.nestingLimit, valueLimit: Int = Self.valueLimit
  ) throws(Refusal) {
    var tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: nestingLimit, tokenByteCount: max(bytes.count, 1)))
    tokens.append(bytes.span)
    tokens.finish()
    var left = valueLimit
    var repeated: String?
    do throws(JSONError) {
      self = try Self.value(tokens.next(), &tokens, &left, &repeated)
      // What follows the value is white space, or refused here. Nobody reads on behind one value too many.
      if left >= 0 { _ = try tokens.next() }
    } catch {
      throw .badRequest("the body is no JSON: \(error)")
    }
    if left < 0 { throw .badRequest("the body has more than \(valueLimit) values; send less at once") }
    if let repeated {
      throw .badRequest(
        "the body has \(String(repeated.prefix(200)).debugDescription) twice in one object, and nobody can tell which one was"
          + " meant; keep one")
    }
  }

  /// The value that begins with a token. The tokenizer bounds how deep this goes.
  ///
  /// - Parameters:
  ///   - left: how many values there may still be. Below 0 what is returned is cut.
  ///   - repeated: set to the first name that an object has twice.
  private static func value(
    _ token: JSONToken, _ tokens: inout JSONTokenizer, _ left: inout Int, _ repeated: inout String?
  ) throws(JSONError) -> JSONBody {
    left -= 1
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
        values.append(try value(token, &tokens, &left, &repeated))
        if left < 0 { return .null }
      }
    case .beginObject:
      var members: [String: JSONBody] = [:]
      while try tokens.next() == .key {
        let name = tokens.textString
        let value = try value(tokens.next(), &tokens, &left, &repeated)
        if left < 0 { return .null }
        // Equal text of other characters, such as é in one or two, is another name, and none that the daemon knows.
        if let index = members.index(forKey: name) {
          if members[index].key.utf8.elementsEqual(name.utf8) { repeated = repeated ?? name }
        } else {
          members[name] = value
        }
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
