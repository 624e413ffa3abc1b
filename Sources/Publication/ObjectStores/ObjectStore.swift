/// A store of small files under names: a directory, or a bucket.
///
/// Names are relative paths such as `catalogue.json` and `objects/ab12.base`, see ``ObjectName``.
package protocol ObjectStore: Sendable, CustomStringConvertible {
  /// Reads an object as a whole.
  ///
  /// - Parameter limit: The largest number of bytes to read.
  /// - Returns: `nil` if there is no object of this name.
  /// - Throws: `ObjectStoreError.tooLarge` if the object has more bytes than `limit`.
  func get(_ name: String, limit: Int) async throws(ObjectStoreError) -> StoredObject?

  /// Writes an object as a whole. Readers see the former object or the new one, never a part.
  ///
  /// The object is durable when the call returns.
  func put(
    _ name: String, _ bytes: [UInt8], _ condition: PutCondition, _ type: ObjectType
  ) async throws(ObjectStoreError) -> PutResult

  /// Deletes an object. Deleting a name that has no object succeeds.
  func delete(_ name: String) async throws(ObjectStoreError)

  /// Whether there is an object of this name.
  func exists(_ name: String) async throws(ObjectStoreError) -> Bool

  /// Finds out whether the store keeps the conditions of writes.
  func probeConditions() async throws(ObjectStoreError) -> ConditionalWrites
}

extension ObjectStore {
  package func probeConditions() async throws(ObjectStoreError) -> ConditionalWrites { .honoured }
}

/// An object that was read.
package struct StoredObject: Sendable, Equatable {
  package var bytes: [UInt8]
  /// Names these contents for ``PutCondition/ifVersion(_:)``; opaque, and different in each store.
  package var version: String

  package init(bytes: [UInt8], version: String) {
    self.bytes = bytes
    self.version = version
  }
}

/// When an object may be written.
package enum PutCondition: Sendable, Equatable {
  /// Always.
  case none
  /// If there is no object of this name.
  case ifAbsent
  /// If the object has this version.
  case ifVersion(String)
}

/// How a write ended.
package enum PutResult: Sendable, Equatable {
  case written(version: String)
  /// The condition did not hold, and nothing was changed.
  case preconditionFailed
}

/// What a store tells those who fetch an object.
package struct ObjectType: Sendable, Equatable {
  /// The `Content-Type`.
  package var mediaType: String
  /// The `Cache-Control`.
  package var cacheControl: String

  package init(mediaType: String, cacheControl: String) {
    self.mediaType = mediaType
    self.cacheControl = cacheControl
  }
}

/// Whether a store keeps the conditions of writes.
package enum ConditionalWrites: String, Codable, Sendable, Equatable {
  /// A write whose condition does not hold changes nothing.
  case honoured
  /// The store refuses writes with a condition.
  case refused
  /// The store writes whatever the condition says.
  case ignored
}

/// The names of objects.
///
/// A name is a path of parts with `/` between them. A part has ASCII letters, digits, `.`, `_` and `-`, and does not
/// begin with a dot: no name leads out of a directory, needs an encoding in a URL, or is one of a store's own files.
package enum ObjectName {
  /// The largest number of bytes of a name.
  package static let limit = 512

  /// Whether a text is a name.
  package static func isValid(_ name: String) -> Bool {
    (1...limit).contains(name.utf8.count)
      && name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
        !part.isEmpty && !part.hasPrefix(".") && part.utf8.allSatisfy(isNameByte)
      }
  }

  /// - Throws: `ObjectStoreError.invalidName`.
  static func check(_ name: String) throws(ObjectStoreError) {
    if !isValid(name) { throw .invalidName(name) }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
