import DocumentFormat
import Essentials
import JSONFormat

extension PublicationHead {
  /// The head as JSON, with a line feed at its end.
  ///
  /// - Throws: ``PublicationError/tooLarge(_:)`` if it has more than ``byteLimit`` bytes.
  package func json() throws(PublicationError) -> [UInt8] {
    var fields: [(String, JSONText)] = [
      ("format", .text("shelfmark-publication")), ("reader", .int(reader)), ("catalogue", .text(catalogue)),
      ("publisher", .text(publisher)),
    ]
    fields += Self.fields(of: state)
    fields += [
      ("published", .text(DateText.text(published))), ("expires", .text(DateText.text(expires))),
      ("poll", .int(poll)), ("spread", .int(spread)),
      (
        "limits",
        .object([("rows", .int(limits.rows)), ("bytes", .int(limits.bytes)), ("text", .int(limits.text))])
      ),
    ]
    if !rings.isEmpty {
      fields.append(
        (
          "rings",
          .array(
            rings.map { ring in
              .object([
                ("percent", .raw(Array(Ring.text(ofPercent: ring.percent).utf8))), ("sequence", .uint(ring.sequence)),
              ])
            })
        ))
    }
    if !held.isEmpty { fields.append(("states", .array(held.map { .object(Self.fields(of: $0)) }))) }
    let bytes = JSONText.object(fields).bytes + [0x0A]
    guard bytes.count <= Self.byteLimit else {
      throw .tooLarge("the head has \(bytes.count) bytes, and may have \(Self.byteLimit)")
    }
    return bytes
  }

  /// Whether the head has at most ``byteLimit`` bytes.
  package var fits: Bool { (try? json()) != nil }

  private static func fields(of state: State) -> [(String, JSONText)] {
    let counts = state.counts
    var fields: [(String, JSONText)] = [
      ("sequence", .uint(state.sequence)), ("cursor", .text(state.cursor)),
      (
        "counts",
        .object([
          ("products", .int(counts.products)), ("relations", .int(counts.relations)), ("codes", .int(counts.codes)),
        ])
      ),
      ("digest", .text(state.digest)),
      (
        "base",
        .object(
          [("sequence", .uint(state.base.sequence))] + Self.fields(of: state.base.file)
            + [("top", .object(Self.fields(of: state.base.top)))])
      ),
      (
        "deltas",
        .array(
          state.deltas.map {
            .object([("from", .uint($0.from)), ("to", .uint($0.to))] + Self.fields(of: $0.file))
          })
      ),
    ]
    if let probe = state.probe { fields.append(("probe", .object(Self.fields(of: probe)))) }
    if let activation = state.activation { fields.append(("activate", .text(activation))) }
    return fields
  }

  private static func fields(of file: File) -> [(String, JSONText)] {
    [("bytes", .int(file.byteCount)), ("sha256", .text(file.sha256))]
  }

  /// Reads a head.
  ///
  /// - Throws: ``PublicationError``.
  package init(json: [UInt8]) throws(PublicationError) {
    guard json.count <= Self.byteLimit else {
      throw .tooLarge("the head has \(json.count) bytes, and may have \(Self.byteLimit)")
    }
    let fields = try JSONFields(json, of: "the head")
    guard try fields.text("format") == "shelfmark-publication" else {
      throw .damaged("the head is not one of a publication: its format is another one")
    }
    let reader = try fields.int("reader")
    if reader > Self.readerVersion { throw .needsNewerReader(version: reader) }
    let limits = try fields.object("limits")
    self.init(
      catalogue: try fields.text("catalogue"), publisher: try fields.text("publisher"),
      published: try fields.date("published"), expires: try fields.date("expires"), poll: try fields.int("poll"),
      spread: try fields.int("spread"),
      limits: Limits(rows: try limits.int("rows"), bytes: try limits.int("bytes"), text: try limits.int("text")),
      state: try Self.state(fields))
    self.reader = reader
    for ring in try fields.objects("rings", upTo: Self.ringLimit) {
      let percent = try ring.number("percent")
      guard (0...100).contains(percent) else { throw .damaged("a ring of the head has no percent from 0 to 100") }
      rings.append(Ring(percent: percent, sequence: try ring.sequence("sequence")))
    }
    for state in try fields.objects("states", upTo: Self.ringLimit) { held.append(try Self.state(state)) }
    for ring in rings where state(ring.sequence) == nil {
      throw .damaged("a ring of the head has the state \(ring.sequence), which the head lacks")
    }
    guard !catalogue.isEmpty, catalogue.utf8.count <= 255 else { throw .damaged("the head names no catalogue") }
    guard poll > 0, spread >= 0 else { throw .damaged("the poll interval of the head is no time") }
  }

  private static func state(_ fields: JSONFields) throws(PublicationError) -> State {
    let counts = try fields.object("counts")
    let base = try fields.object("base")
    let digest = try fields.text("digest")
    guard digest.utf8.count == 32 else { throw .damaged("the head has no digest") }
    var state = State(
      sequence: try fields.sequence("sequence"), cursor: try fields.text("cursor"),
      counts: Counts(
        products: try counts.int("products"), relations: try counts.int("relations"), codes: try counts.int("codes")),
      digest: digest,
      base: Base(
        sequence: try base.sequence("sequence"), file: try file(base), top: try file(base.object("top"))),
      deltas: [])
    guard state.base.sequence <= state.sequence else { throw .damaged("the base of the head is newer than the head") }
    for delta in try fields.objects("deltas", upTo: deltaLimit) {
      let delta = Delta(
        from: try delta.sequence("from"), to: try delta.sequence("to"), file: try file(delta))
      guard delta.from < delta.to, delta.to <= state.sequence else {
        throw .damaged("a delta of the head leads from \(delta.from) to \(delta.to)")
      }
      state.deltas.append(delta)
    }
    state.probe = try fields.optionalObject("probe").map { (fields) throws(PublicationError) in try file(fields) }
    state.activation = try fields.optionalText("activate")
    return state
  }

  private static func file(_ fields: JSONFields) throws(PublicationError) -> File {
    let hash = try fields.text("sha256")
    let isDigit: (UInt8) -> Bool = { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    guard hash.utf8.count == 64, hash.utf8.allSatisfy(isDigit) else {
      throw .damaged("a file of the head has no SHA-256")
    }
    return File(byteCount: try fields.int("bytes"), sha256: hash)
  }
}

/// The fields of a JSON object, with errors that name them.
struct JSONFields {
  private let value: DocumentValue
  private let what: String

  init(_ json: [UInt8], of what: String) throws(PublicationError) {
    let value: DocumentValue
    do { value = try DocumentValue(json: json.span) } catch {
      throw .damaged("\(what) is not JSON: \(error); is it a page of another server?")
    }
    try self.init(value, of: what)
  }

  private init(_ value: DocumentValue, of what: String) throws(PublicationError) {
    guard case .object = value else { throw .damaged("\(what) is no JSON object") }
    self.value = value
    self.what = what
  }

  private func wrong(_ name: String) -> PublicationError { .damaged("\(what) has no \(name), or one of another type") }

  func text(_ name: String) throws(PublicationError) -> String {
    guard case .text(let text)? = value[name] else { throw wrong(name) }
    return text
  }

  func optionalText(_ name: String) throws(PublicationError) -> String? {
    if case .null? = value[name] { return nil }
    return value[name] == nil ? nil : try text(name)
  }

  func has(_ name: String) -> Bool { value[name] != nil }

  /// A number that is not negative.
  func int(_ name: String) throws(PublicationError) -> Int {
    guard case .integer(let number)? = value[name], number >= 0 else { throw wrong(name) }
    return Int(number)
  }

  func sequence(_ name: String) throws(PublicationError) -> UInt64 { UInt64(try int(name)) }

  func number(_ name: String) throws(PublicationError) -> Double {
    switch value[name] {
    case .integer(let number): return Double(number)
    case .double(let number): return number
    default: throw wrong(name)
    }
  }

  func date(_ name: String) throws(PublicationError) -> Date {
    guard let date = DateText.date(try text(name)) else { throw wrong(name) }
    return date
  }

  func object(_ name: String) throws(PublicationError) -> JSONFields {
    guard let value = value[name] else { throw wrong(name) }
    return try JSONFields(value, of: "\(name) of \(what)")
  }

  func optionalObject(_ name: String) throws(PublicationError) -> JSONFields? {
    if case .null? = value[name] { return nil }
    return value[name] == nil ? nil : try object(name)
  }

  /// The objects of an array; none if it is not there.
  func objects(_ name: String, upTo limit: Int) throws(PublicationError) -> [JSONFields] {
    guard let array = value[name] else { return [] }
    guard case .array(let values) = array, values.count <= limit else { throw wrong(name) }
    var objects: [JSONFields] = []
    for value in values { objects.append(try JSONFields(value, of: "\(name) of \(what)")) }
    return objects
  }

  func texts(_ name: String, upTo limit: Int) throws(PublicationError) -> [String] {
    guard let array = value[name] else { return [] }
    guard case .array(let values) = array, values.count <= limit else { throw wrong(name) }
    var texts: [String] = []
    for value in values {
      guard case .text(let text) = value else { throw wrong(name) }
      texts.append(text)
    }
    return texts
  }
}
