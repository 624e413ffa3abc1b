import Bytes
import DocumentFormat
import Documents
import Foundation
import LogStore
import StoreTestSupport

/// A type with a bit of everything, for the decoder.
private struct Shape: Codable {
  struct Inner: Codable {
    var name: String?
    var flags: [Bool]?
    var numbers: [Double]?
  }

  enum Kind: String, Codable { case a, b }

  var id: Int?
  var inner: Inner?
  var list: [Inner]?
  var when: Date?
  var data: Data?
  var kind: Kind?
  var map: [String: Int8]?
  var uuid: UUID?
  var url: URL?
  var decimal: Decimal?
}

private let paths: [FieldPath] = ["a", "id", "user.name", "tags", "a.b.c", "list.name"].map { text in
  do { return try FieldPath(parsing: text) } catch { fatalError("\(error)") }
}

/// Conditions of every kind.
private let conditions: [Condition] = [
  "a == 1", "id != 'x'", "user.name < 'm'", "tags >= 1.5", "a in [1, 'a', null, true, date('2026-01-01')]",
  "user.name contains 'A' nocase", "user.name like 'a%_b' nocase", "tags hasprefix 'x'", "a.b.c is null",
  "!(a == 1 && list.name == 'x') || id <= 18446744073709551615", "a == bytes('AAE=')", "list.name > nan",
].map { text in
  do { return try Condition(parsing: text) } catch { fatalError("\(text): \(error)") }
}

/// Any bytes as a document: everything that reads one agrees whether it is one and what it says.
@Sendable func fuzzDocument(_ bytes: [UInt8]) {
  let value = try? DocumentValue(documentBytes: bytes.rawSpan)
  do {
    let view = DocumentView(bytes.rawSpan)
    let isValid = (try? view.validate()) != nil
    require(isValid == (value != nil), "document: validated \(isValid), but read \(value != nil)")
    for condition in conditions {
      let answer = try? condition.matches(view)
      require(!isValid || answer != nil, "document: a condition refuses a valid one")
      guard isValid, answer == true else { continue }
      for path in paths { checkPlan(of: condition, view, path) }
    }
    for path in paths {
      var keys: Set<IndexKey> = []
      let isRead: Void? = try? view.forEachIndexKey(at: path, withPrefixes: true) { key in
        require(key.bytes.count <= 33, "document: a key of \(key.bytes.count) bytes")
        require(keys.insert(key).inserted, "document: a key comes twice")
      }
      require(!isValid || isRead != nil, "document: no keys of a valid one")
      let order = try? Ordering([.init(path), .init(paths[0], isDescending: true)]).sortKey(of: view)
      require(!isValid || order != nil, "document: no order of a valid one")
    }
    let count = try? view.byteCount()
    require(!isValid || count == bytes.count, "document: \(count ?? -1) bytes of \(bytes.count)")
  }
  _ = try? DocumentDecoder().decode(Shape.self, from: bytes)
  if let value { checkValue(value) }
  let half = Array(bytes.prefix(bytes.count / 2))
  let known = [[0xA0], bytes, half, [0x80]] as [[UInt8]]
  for (old, new) in [(bytes, bytes), (bytes, [0xA0]), ([0xA0], bytes), (half, Array(bytes.suffix(half.count)))] {
    for known in known {
      guard let merged = try? DocumentMerge.keepingUnknownFields(old: old, oldAsKnown: known, new: new) else {
        continue
      }
      let areDocuments = [old, known, new].allSatisfy { (try? DocumentValue(documentBytes: $0.rawSpan)) != nil }
      let isOne = (try? DocumentValue(documentBytes: merged.rawSpan)) != nil
      require(!areDocuments || isOne, "merge: no document of three documents")
    }
  }
}

/// What an index over `path` would look up for a condition that holds is among the document's keys.
private func checkPlan(of condition: Condition, _ view: borrowing DocumentView, _ path: FieldPath) {
  guard case .lookups(let lookups) = condition.plan([IndexDescription(path, hasPrefixes: true)]) else { return }
  var keys: Set<IndexKey> = []
  do { try view.forEachIndexKey(at: path, withPrefixes: true) { keys.insert($0) } } catch { return }
  require(
    lookups.contains { $0.keys.contains { keys.contains($0) } }, "plan: the index misses what meets \(condition)")
}

/// Written and read again, as a document, as a type and as JSON.
private func checkValue(_ value: DocumentValue) {
  let bytes = value.documentBytes
  guard let again = try? DocumentValue(documentBytes: bytes.rawSpan) else { fatalError("document: not read again") }
  require(again == value && again.documentBytes == bytes, "document: another one when written and read")
  guard let decoded = try? DocumentDecoder().decode(DocumentValue.self, from: bytes) else {
    fatalError("document: not decoded")
  }
  require(decoded == value, "document: decoded as another one")
  do {
    let json = try DocumentValue(json: value.json)
    require(json.json == value.json, "document: other JSON when read again")
  } catch { fatalError("document: JSON that is none: \(error)") }
}

/// Text as a path, a condition and an order: what is read is written in a form that reads as the same.
@Sendable func fuzzConditions(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  do throws(FieldPathError) {
    let path = try FieldPath(parsing: text)
    let again = try? FieldPath(parsing: path.description)
    require(again == path && path.names.count == path.count, "path: another one when written and read")
  } catch { _ = "\(error)" }
  do throws(QuerySyntaxError) {
    let ordering = try Ordering(parsing: text)
    require((try? Ordering(parsing: ordering.description)) == ordering, "order: another one when written and read")
  } catch { check(error, text) }
  do throws(QuerySyntaxError) {
    let condition = try Condition(parsing: text)
    let written = condition.description
    guard let again = try? Condition(parsing: written) else { fatalError("condition: not read again: \(written)") }
    require(again.description == written, "condition: another one when written and read: \(written)")
    for document in documents {
      let view = DocumentView(document.rawSpan)
      guard let answer = try? condition.matches(view), let same = try? again.matches(view) else {
        fatalError("condition: it refuses a valid document")
      }
      require(answer == same, "condition: another answer when written and read")
      if answer { for path in paths { checkPlan(of: condition, view, path) } }
    }
  } catch { check(error, text) }
}

private let documents: [[UInt8]] = [
  "{}", #"{"a":1,"id":"x","user":{"name":"abc"},"tags":["x",2,null]}"#, #"{"a":{"b":[{"c":1},{"c":"x"}]},"list":[]}"#,
  #"{"a":"a","tags":"xyz","user":{"name":"A%"}}"#,
].map { json in
  do { return try DocumentValue(json: json).documentBytes } catch { fatalError("\(error)") }
}

private func check(_ error: QuerySyntaxError, _ text: String) {
  require(error.column >= 1 && error.column <= text.unicodeScalars.count + 2, "a column outside: \(error)")
}

/// A log of documents with changed bytes: opened, asked, verified, repaired and written.
@Sendable func fuzzDocuments(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let log = EditedLog(.documents, EditedLog.Repairs(rawValue: choice & 15), &input).bytes
  let location = LogSample.location(LogSample.device(log))
  switch choice >> 4 & 3 {
  case 0: attempt { try read(DocumentStore.inspect(location)) }
  case 1:
    attempt {
      guard let verification = try Verification.run(location), verification.findings.isEmpty else { return }
      let store = try DocumentStore.inspect(location)
      guard try store.snapshot().verify().isEmpty else { return }
      // What nobody finds anything wrong with can be read.
      do {
        for name in try store.snapshot().collectionNames where !name.isEmpty { try readAll(store, name) }
      } catch { fatalError("verification: it finds nothing, but \(error)") }
    }
  case 2:
    attempt {
      guard let repair = try DocumentStore.repair(location) else { return }
      let after = try Verification.run(location)
      // A log of which nothing can be saved is set aside, and no store is left.
      let isAside = repair.snapshot == nil && repair.damagedPath != nil
      require(
        after.map(\.findings.isEmpty) ?? isAside,
        "repair: it leaves \(after?.findings.first?.description ?? "nothing")")
      try read(DocumentStore.inspect(location))
    }
  default:
    attempt {
      let store = try DocumentStore.inspect(location)
      let members = try store.untypedCollection("members")
      attempt { try members.put(DocumentValue(json: #"{"id":3,"user":{"name":"name 3"},"tags":["z"]}"#)) }
      attempt { try members.delete(.integer(0)) }
      attempt { try members.declare([IndexDescription(paths[3]), IndexDescription(paths[1])]) }
      attempt { try store.compact() }
      attempt { _ = try DocumentStore.open(location, schemaVersion: 2) }
      attempt { try read(store) }
    }
  }
}

private func readAll(_ store: DocumentStore, _ name: String) throws {
  let collection = try store.untypedCollection(name)
  var count = 0
  try collection.query { _, document in
    count += 1
    _ = document.json
  }
  // What counts and does not lie is for verification to tell.
  let counted = try collection.count()
  guard counted == count else { throw StoreContents.Contradiction(what: "\(name): \(count) rows, \(counted) counted") }
}

/// Everything that can be asked without a type.
private func read(_ store: DocumentStore) throws {
  let snapshot = try store.snapshot()
  attempt { for finding in try snapshot.verify() { _ = finding.description } }
  attempt { _ = try DocumentDigest(snapshot) }
  for name in snapshot.collectionNames.prefix(5) + ["members", "nobody"] where !name.isEmpty {
    attempt { try readAll(store, name) }
    attempt {
      let collection = try store.untypedCollection(name)
      attempt { _ = try collection.indexes() }
      for id in [DocumentValue.integer(1), .text("a"), .integer(9)] { attempt { _ = try collection.get(id) } }
      for text in ["user.name == 'name 0'", "user.name hasprefix 'na'", "tags in ['x', 'y3']", "user.age > 1"] {
        attempt {
          try collection.query(Condition(parsing: text), ordering: Ordering(parsing: "-id"), limit: 3) { _, _ in }
        }
      }
    }
  }
}
