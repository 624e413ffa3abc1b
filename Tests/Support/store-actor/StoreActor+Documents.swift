import Documents
import LogStore
import ProcessTestSupport

extension StoreActor {
  /// A document of the scene.
  struct Note: Codable, Identifiable, Sendable {
    var id: Int
    var text: String
    var tags: [String]
  }

  /// Documents that one transaction inserts, besides moving the counter.
  static let notesPerTransaction = 3

  /// Inserts documents in transactions, and says the number of each that is done, until it is killed. A document with
  /// id 0 counts the transactions; now and then an index is added or removed, many documents are updated, or the file
  /// is compacted.
  static func writeDocuments(_ location: StoreLocation) throws {
    let store = try DocumentStore.open(location)
    var notes = try store.collection("notes", indexes: [Index(\Note.tags)])
    var number = try Int(notes.get(0)?.text ?? "0") ?? 0
    say("open")
    while true {
      number += 1
      try store.transaction { transaction in
        for index in 0..<notesPerTransaction {
          let id = (number - 1) * notesPerTransaction + index + 1
          try transaction.insert(Note(id: id, text: "note \(id)", tags: ["all", "\(id % 5)"]), into: notes)
        }
        try transaction.upsert(Note(id: 0, text: "\(number)", tags: []), into: notes)
      }
      say("\(number)")
      switch number % 20 {
      case 7: notes = try store.collection("notes", indexes: [Index(\Note.tags), Index(\Note.text, prefixes: true)])
      case 13: notes = try store.collection("notes", indexes: [Index(\Note.tags)])
      case 17: try store.compact()
      default: break
      }
    }
  }
}
