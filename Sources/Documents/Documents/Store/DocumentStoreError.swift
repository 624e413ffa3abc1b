public import DocumentFormat
public import LogStore
package import Platform

/// An error of a document store. If one is thrown, nothing has changed.
public enum DocumentStoreError: Error, Sendable {
  // MARK: The caller's input

  /// A document with this ID already exists.
  case exists(collection: String, id: String)
  /// A change would give a document another ID.
  case idChanged(collection: String, from: String, to: String)
  /// A document has no field `id`, or one that is neither text nor a number.
  case noID(collection: String)
  /// A document's ID is a number beyond 64 bits, which is kept as a rounded double, so that another ID may equal it.
  case idRounded(collection: String, id: String)
  /// A document's ID is longer than a key of a store may be, in bytes of its encoding.
  case idTooLong(collection: String, byteCount: Int, limit: Int)
  /// A collection's name is empty, longer than 200 bytes, or reserved.
  case name(String)
  /// The path of an index or a condition cannot be derived from its key path.
  case path(FieldPathError)
  /// The value at an index's path differs from the value of its key path: the coding keys have other names.
  case pathMismatch(collection: String, path: String)
  case tooManyIndexes
  /// A value that was grouped by, or an aggregate, cannot be decoded as the type of its property.
  case groupValue(collection: String, value: String, type: String)
  /// A cursor was used with another order than that of the query that returned it.
  case cursor(order: String)
  /// An assignment would change the IDs of documents.
  case idAssigned(collection: String)

  // MARK: Versions

  /// A newer version of the application wrote the store.
  case newerSchema(path: String, stored: Int, known: Int)
  /// A migration failed. The store still has its old version.
  case migration(path: String, to: Int, name: String, reason: any Error)
  /// The store's state was written by another program.
  case unknownState(path: String)

  // MARK: The store

  /// The bytes of a document are invalid, or cannot be decoded as the expected type.
  case document(collection: String, id: String, reason: any Error)
  /// The store was closed, for example because its user signed out.
  case closed(path: String)
  case store(StoreError)
}

extension DocumentStoreError: CustomStringConvertible {
  /// What is wrong with which collection or document, and what to do, for people.
  public var description: String {
    switch self {
    case .exists(let collection, let id): "\(collection) has a document \(id) already; update or upsert it"
    case .idChanged(let collection, let from, let to):
      "a change of \(collection) would make document \(from) into \(to); delete the one and insert the other"
    case .noID(let collection): "a document for \(collection) needs a field id with a text or a number"
    case .idRounded(let collection, let id):
      "\(id), the id of a document for \(collection), is a number beyond 64 bits, where different numbers become one; write it as a text"
    case .idTooLong(let collection, let byteCount, let limit):
      "the id of a document for \(collection) takes \(byteCount) bytes, and \(limit) are the most"
    case .name(let name):
      "\"\(name)\" is not a valid collection name: a name has 1 to 200 bytes, and does not begin with shelfmark."
    case .path(let error): "\(error)"
    case .pathMismatch(let collection, let path):
      "the index on \(path) of \(collection) does not see the property that it is declared by: give the path as it is encoded"
    case .tooManyIndexes: "a collection has had more than 65,535 indexes; write its documents into a new one"
    case .groupValue(let collection, let value, let type):
      "\(value), a value of a group of \(collection), is no \(type); group by the field's path as text instead"
    case .cursor(let order):
      "the cursor does not belong to a query \(order.isEmpty ? "without an order" : "ordered by \(order)"); begin again with the first page"
    case .idAssigned(let collection):
      "the id of a document of \(collection) cannot be set; put the document under its new id and delete the old one"
    case .newerSchema(let path, let stored, let known):
      "\(path) has version \(stored) of the schema, and this program knows \(known); use the newer program"
    case .migration(let path, let version, let name, let reason):
      "\(path): step \"\(name)\" to version \(version) failed, and nothing was changed: \(reason)"
    case .unknownState(let path): "\(path) is no store of documents"
    case .document(let collection, let id, let reason): "document \(id) of \(collection): \(reason)"
    case .closed(let path):
      "\(path) was closed, as its user was signed out or the program let go of it; ask for it again"
    case .store(let error): "\(error)"
    }
  }
}

extension DocumentStoreError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    switch self {
    case .store(let cause): cause.exitStatus
    case .document(_, _, let cause as StoreError): cause.exitStatus
    case .name, .path, .cursor: .usage
    default: .data
    }
  }
}
