import Bytes
import LogStore
import Storage

/// A store in which every commit is known from its number, so that a mixture of two, or half of one, is found out.
///
/// At commit *n* eight rows carry *n*, sixteen more carry the last sixteen numbers, and one link leads to *n*.
package enum NumberedStore {
  private static let fixed = 8
  private static let ring: UInt64 = 16

  /// What commit `number` shows.
  package static func contents(_ number: UInt64) -> StoreContents {
    var contents = StoreContents()
    contents.sequence = number
    contents.state = Array("\(number)".utf8)
    contents.tables[0] = (0..<fixed).map { row($0, number) }
    for past in (number >= ring ? number - ring + 1 : 1)...number { contents.tables[0].append(ringRow(past)) }
    contents.tables[0].sort()
    contents.tables[1] = [link(number)]
    return contents
  }

  /// Adds the next commit. With `isGeneration` as a new generation.
  package static func commit(_ writer: StoreWriter, isGeneration: Bool = false) throws -> Snapshot {
    if isGeneration || writer.snapshot == nil { return try writer.replace { try fill($0) } }
    return try writer.commit { try change($0) }
  }

  private static func fill(_ transaction: Transaction) throws {
    let contents = contents(transaction.sequence)
    for table in contents.tables.indices {
      for row in contents.tables[table] { try transaction.put(table, row) }
    }
    transaction.state = contents.state
  }

  /// Turns the commit before into that of the transaction.
  package static func change(_ transaction: Transaction) throws {
    let number = transaction.sequence
    for index in 0..<fixed { try transaction.put(0, row(index, number)) }
    try transaction.put(0, ringRow(number))
    try transaction.delete(TestSchema.to, "last")
    try transaction.put(1, link(number))
    transaction.state = Array("\(number)".utf8)
  }

  /// Reads everything by scan and by key; throws if it is not what this commit showed when it was made.
  package static func check(_ snapshot: Snapshot) throws {
    let found = try StoreContents(snapshot)
    if found != contents(snapshot.sequence) {
      throw StoreContents.Contradiction(
        what: "commit \(snapshot.sequence) of generation \(snapshot.generation) shows \(found.tables)")
    }
  }

  private static func row(_ index: Int, _ number: UInt64) -> TestRow {
    TestRow("row \(index)", "same", shared: ["shared by all", "\(number)"], body: "\(number)")
  }

  private static func ringRow(_ number: UInt64) -> TestRow {
    TestRow("ring \(number % ring)", "\(number)", body: "\(number)")
  }

  private static func link(_ number: UInt64) -> TestRow { TestRow("\(number)", "last", body: "\(number)") }
}
