/// The pending changes of one collection: the bytes of written documents, and `nil` for deleted ones, in the order in
/// which the documents were first changed. They are written to the file in this order.
struct PendingChanges {
  /// Whether they replace all documents of the snapshot.
  var isAll = false
  private(set) var entries: [(key: [UInt8], document: [UInt8]?)] = []
  private var positions: [[UInt8]: Int] = [:]

  /// The pending change of a document; `nil` if it was not changed. Setting it to `nil` has no effect.
  subscript(key: [UInt8]) -> [UInt8]?? {
    get { positions[key].map { entries[$0].document } }
    set {
      guard let document = newValue else { return }
      if let position = positions[key] {
        entries[position].document = document
      } else {
        positions[key] = entries.count
        entries.append((key, document))
      }
    }
  }

  /// Undoes the last change of a document. Later changes of other documents must already be undone.
  mutating func restore(_ key: [UInt8], _ before: [UInt8]??) {
    if let before {
      self[key] = .some(before)
    } else {
      assert(entries.last?.key == key, "changes are taken back in reverse order")
      entries.removeLast()
      positions[key] = nil
    }
  }
}
