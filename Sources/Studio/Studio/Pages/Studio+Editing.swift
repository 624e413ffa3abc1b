import DocumentFormat
import Documents
import HTTPServer
import JSONFormat
import LogStore
import Platform
import Workspace

// Changes of documents and settings, which need an editable studio, and the verification, which changes nothing.

extension Studio {
  func addEditing(to router: StudioRoutes) {
    add(router, .put, "studio/api/collections/{name}/{id}") { call in
      try checkEditable()
      let document = try DocumentValue(json: call.body.span)
      guard let id = document["id"], Self.identifiers(call.name("id")).contains(id) else {
        throw ErrorResponse.badRequest("the document's id is not the one of the path")
      }
      let store = try stores.writableDocuments()
      defer { store.close() }
      try store.untypedCollection(call.name("name")).put(document)
      return .object([("put", .int(1))])
    }
    add(router, .delete, "studio/api/collections/{name}/{id}") { call in
      try checkEditable()
      let name = call.name("name")
      guard try stores.documents()?.snapshot().collectionNames.contains(name) == true else {
        throw ErrorResponse.notFound("there is no collection \(name.debugDescription)")
      }
      let store = try stores.writableDocuments()
      defer { store.close() }
      let collection = try store.untypedCollection(name)
      for id in Self.identifiers(call.name("id")) where try collection.delete(id) {
        return .object([("deleted", .int(1))])
      }
      throw ErrorResponse.notFound("\(name) has no document \(call.name("id").debugDescription)")
    }
    add(router, .post, "studio/api/collections") { call in try changeDocuments(call) }
    add(router, .post, "studio/api/settings") { call in try changeSettings(call) }
    add(router, .put, "studio/api/settings/{owner}/{name}") { call in
      let settings = try settings(call)
      guard let value = try DocumentValue(json: call.body.span)["value"] else {
        throw ErrorResponse.badRequest("value: the value of the setting")
      }
      let name = call.name("name")
      try Self.check(name, value)
      try settings.change { try $0.set(named: name, to: value) }
      return .object([("name", .text(name)), ("value", .raw(Array(value.json.utf8)))])
    }
    add(router, .delete, "studio/api/settings/{owner}/{name}") { call in
      let settings = try settings(call)
      try settings.change { try $0.unset(named: call.name("name")) }
      return .object([("name", .text(call.name("name"))), ("value", .null)])
    }
    addAsync(router, .post, "studio/api/verify") { _ in
      let total = try await BlockingThread.run { try stores.files().reduce(0) { $0 + $1.byteCount } }
      return Self.stream(.ndjson) { write in
        func progress(_ done: Int) -> [UInt8] {
          Self.lines([.object([("done", .int(done)), ("total", .int(total))])])
        }
        try await write(progress(0))
        let result: StoreVerification
        do { result = try await BlockingThread.run { try stores.verify() } } catch {
          // The answer has begun, so its last line tells the error.
          try await write(Self.lines([ErrorResponse(ofStudio: error).json]))
          return
        }
        try await write(progress(total))
        let findings = result.findings.map { finding in
          JSONText.object([
            ("file", .text(finding.path)), ("offset", .int(finding.offset)), ("what", .text(finding.what)),
            ("lost", .text(finding.lost)),
          ])
        }
        try await write(
          Self.lines([.object([("findings", .array(findings)), ("digest", .optional(result.digest))])]))
      }
    }
  }

  /// Makes changes of documents of any collections in one commit: all of them, or none. A change with `isNew` refuses
  /// all if the document is there, and one with `before` if the document is another one now.
  private func changeDocuments(_ call: ReceivedRequest) throws -> JSONText {
    try checkEditable()
    let changes = try Self.changes(call)
    let store = try stores.writableDocuments()
    defer { store.close() }
    var deleted = 0
    try store.transaction { transaction in
      for (index, change) in changes.enumerated() {
        let name = try Self.text("collection", of: change, index)
        guard let id = change["id"] else {
          throw ErrorResponse.badRequest("changes[\(index)].id: the id of a document")
        }
        let collection = try store.untypedCollection(name)
        if let before = change["before"], try !Self.isSame(transaction.get(id, from: collection), before) {
          throw ErrorResponse.changed("\(name) has another document \(id.json) now")
        }
        if let document = change["document"] {
          guard document["id"] == id else {
            throw ErrorResponse.badRequest("changes[\(index)].document: its id is not the id of the change")
          }
          if change["isNew"] == .bool(true), try transaction.contains(id, in: collection) {
            throw ErrorResponse(
              .conflict, "documentExists",
              "\(name) has a document \(id.json) already; edit that one, or take another id; nothing was changed")
          }
          try transaction.put(document, in: collection)
        } else if try transaction.delete(id, from: collection) {
          deleted += 1
        } else {
          throw ErrorResponse.notFound(
            "changes[\(index)]: \(name) has no document \(id.json); nothing was changed")
        }
      }
    }
    return .object([("put", .int(changes.count - deleted)), ("deleted", .int(deleted))])
  }

  /// Makes changes of settings, in one commit for each owner.
  private func changeSettings(_ call: ReceivedRequest) throws -> JSONText {
    try checkEditable()
    var byOwner: [String: [(name: String, value: DocumentValue?, before: DocumentValue?)]] = [:]
    for (index, change) in try Self.changes(call).enumerated() {
      let owner = try Self.text("owner", of: change, index)
      guard ["user", "default"].contains(owner) else {
        throw ErrorResponse.badRequest("changes[\(index)].owner: user or default")
      }
      let name = try Self.text("name", of: change, index)
      let value = change["value"]
      if let value { try Self.check(name, value) }
      byOwner[owner, default: []].append((name, value, change["before"]))
    }
    for (owner, changes) in byOwner {
      let known = try stores.settings(ofUser: owner == "user")
      // A secret is shown as a sign for it.
      for (name, _, before) in changes {
        guard let before, before != .text("…") else { continue }
        if try !Self.isSame(known.value(named: name), before) {
          throw ErrorResponse.changed("the setting \(name) has another value now")
        }
      }
    }
    for (owner, changes) in byOwner {
      try stores.settings(ofUser: owner == "user").change { settings in
        for (name, value, _) in changes {
          if let value { try settings.set(named: name, to: value) } else { try settings.unset(named: name) }
        }
      }
    }
    return .object([("changed", .int(byOwner.values.reduce(0) { $0 + $1.count }))])
  }

  /// Whether a value is the one that a page has shown, whose dates are texts there.
  private static func isSame(_ now: DocumentValue?, _ shown: DocumentValue) throws -> Bool {
    guard let now else { return false }
    return try DocumentValue(json: now.json) == shown
  }

  /// The changes of a request.
  static func changes(_ call: ReceivedRequest) throws -> [DocumentValue] {
    guard case .array(let changes)? = try DocumentValue(json: call.body.span)["changes"], !changes.isEmpty else {
      throw ErrorResponse.badRequest("changes: a list with at least one change")
    }
    return changes
  }

  static func text(_ name: String, of change: DocumentValue, _ index: Int) throws -> String {
    guard case .text(let text)? = change[name] else {
      throw ErrorResponse.badRequest("changes[\(index)].\(name): a text")
    }
    return text
  }

  /// The values that a text in a path may stand for: itself, or a whole number.
  private static func identifiers(_ text: String) -> [DocumentValue] {
    var identifiers = [DocumentValue.text(text)]
    if let number = try? DocumentValue(json: text), case .integer = number { identifiers.append(number) }
    return identifiers
  }

  /// The settings that a request changes.
  private func settings(_ call: ReceivedRequest) throws -> Settings {
    try checkEditable()
    switch call.name("owner") {
    case "user": return try stores.settings(ofUser: true)
    case "default": return try stores.settings(ofUser: false)
    default: throw ErrorResponse.notFound("settings belong to user or to default")
    }
  }

  /// Refuses a value that the programs of this project could not read.
  private static func check(_ name: String, _ value: DocumentValue) throws {
    if let name = IndexSettings.Name(rawValue: name) {
      var settings = IndexSettings()
      try settings.set(name, to: value)
    }
    if let name = MatchingSettings.Name(rawValue: name) {
      var settings = MatchingSettings()
      try settings.set(name, to: value)
    }
  }
}
