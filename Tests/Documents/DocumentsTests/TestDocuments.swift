import LogStore
import StoreTestSupport
@testable import Documents

/// A store of documents on a simulated device, and what opens it.
struct TestDocuments {
  static let log = "documents.log"

  var device = SimulatedDevice()
  private let environment: StoreEnvironment

  init(_ device: SimulatedDevice = SimulatedDevice(), flushLimit: Int? = nil, seed: UInt64 = 1) {
    self.device = device
    environment = FixedEnvironment(seed: seed).environment(flushLimit: flushLimit)
  }

  var location: StoreLocation { StoreLocation.test(device.directory, name: "documents", environment: environment) }

  func store(
    _ options: DocumentStore.Options = DocumentStore.Options(), version: Int = 0, migrations: [Migration] = []
  ) throws -> DocumentStore {
    try DocumentStore.open(location, schemaVersion: version, migrations: migrations, options: options)
  }

  func inspect() throws -> DocumentStore { try DocumentStore.inspect(location) }

  var bytes: [UInt8] { device.contents(Self.log) ?? [] }

  /// The same store with other bytes in its log.
  func with(_ log: [UInt8]) -> TestDocuments {
    let device = SimulatedDevice()
    device.place(log, as: Self.log)
    return TestDocuments(device)
  }
}

extension Member {
  /// The indexes of most tests: a text with prefixes in an optional object, a boolean, an array, an enumeration.
  static let indexes: [Index<Member>] = [
    Index(\.user.friendRelation?.remarkName, prefixes: true), Index(\.user.status.isOnline), Index(\.user.tags),
    Index(\.user.gender),
  ]
}

/// Something that is not as it should be.
struct Oddity: Error, CustomStringConvertible {
  let what: String
  var description: String { what }

  init(_ what: String) { self.what = what }
}
