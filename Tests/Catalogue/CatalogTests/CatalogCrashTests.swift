import Barcodes
import LogStore
import RandomTestSupport
import Storage
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// Loss of power and failing calls under everything that changes a catalogue: rows and cursor are always those of one
/// commit.
@Suite struct CatalogCrashTests {
  /// What a catalogue shows: cursor, commit, and every row.
  private enum Shown: Hashable {
    case catalogue(cursor: String, mode: UpdateMode, sequence: UInt64, rows: [UInt8])
    /// The damaged log of the beginning, byte for byte.
    case damaged

    init(_ snapshot: CatalogSnapshot) throws {
      try CatalogCrashTests.checkFields(snapshot)
      self = .catalogue(
        cursor: snapshot.cursor, mode: snapshot.state.mode, sequence: snapshot.sequence,
        rows: try snapshot.canonicalDump)
    }
  }

  /// Fields of one's own with an index of each kind: an order, codes, and words of a search.
  private static let declared: DeclaredFields = try! DeclaredFields(
    json: Array(
      #"""
      {"price": {"type": "decimal", "order": true}, "carton": {"role": "code", "quantity": 12}, "color": {"search": true}}
      """#.utf8))

  private static var indexes: CatalogIndexes {
    var indexes = CatalogIndexes.standard
    indexes.fields = declared
    return indexes
  }

  /// Checks that the indexes of declared fields have the keys of the rows, and no others, and lead to the products.
  private static func checkFields(_ snapshot: CatalogSnapshot) throws {
    guard let store = snapshot.store else { return }
    try #require(store.orderedFindings(CatalogSchema.schema).isEmpty)
    let snapshot = snapshot.declaring(declared)
    if !snapshot.fieldsWithoutIndex.isEmpty { return }
    for product in try snapshot.products where product.delFlag == 0 && product.extra["carton"] != nil {
      try #require(snapshot.products(furtherCode: "7\(product.id)").map(\.id) == [product.id])
    }
  }

  private typealias Act = (CatalogWriter) throws -> Void

  private static func location(_ device: SimulatedDevice, seed: UInt64 = 2) -> StoreLocation {
    StoreLocation.test(device.directory, name: "catalog", environment: FixedEnvironment(seed: seed).environment())
  }

  private static func show(_ device: SimulatedDevice) throws -> Shown {
    try Shown(CatalogReader.open(location(device))?.snapshot() ?? .empty)
  }

  /// A full update. Its cursor is also the kind of the codes.
  private static func full(_ products: [Product], _ relations: [Relation], _ cursor: String) -> Act {
    { writer in
      var update = try writer.beginFullUpdate(.open)
      try update.take(products, relations, codes(of: products, cursor))
      _ = try update.commit(cursor: cursor)
    }
  }

  private static func increment(_ products: [Product], _ relations: [Relation], _ cursor: String) -> Act {
    { writer in
      var increment = writer.beginIncrement()
      try increment.take(products, relations, codes(of: products, cursor))
      _ = try increment.commit(cursor: cursor)
    }
  }

  /// Two codes of each product; none in step 2, whose products keep those that they have.
  private static func codes(of products: [Product], _ cursor: String) -> [ProductCode] {
    if cursor == "step 2" { return [] }
    return products.flatMap { product in
      [
        ProductCode(product.id, "4\(product.id)", ExactDecimal(6), kind: cursor),
        ProductCode(product.id, "5\(product.id)", kind: cursor),
      ]
    }
  }

  /// Rows that say which step wrote them, as the cursor does.
  private static func acts(_ random: inout SeededGenerator) throws -> [Act] {
    var acts: [Act] = []
    for step in 0..<9 {
      let cursor = "step \(step)"
      let ids = (0..<Int.random(in: 1...6, using: &random)).map { _ in "p\(Int.random(in: 0..<9, using: &random))" }
      var products = ids.map { Product($0, "69\(step)", name: cursor) }
      for (index, id) in ids.enumerated() where index % 3 < 2 {
        products[index].extra = try ProductExtra(
          json: #"{"price":\#(step).5,"carton":["7\#(id)",\#(step)],"color":"\#(cursor)"}"#)
      }
      let relations = ids.map { Relation($0, "p\(step)", Int64(step), id: cursor) }
      switch step {
      case 0, 5: acts.append(full(products, relations, cursor))
      case 3: acts.append { _ = try $0.rollback(to: max(1, $0.snapshot().sequence - 1)) }
      case 6: acts.append { try $0.compact() }
      default:
        if let last = products.indices.last, step % 2 == 0 { products[last].delFlag = 1 }
        acts.append(increment(products, relations, cursor))
      }
    }
    return acts
  }

  private static func goOn(_ recording: CrashRecording<Shown>) throws {
    let writer = try CatalogWriter(location(recording.device))
    try recording.step {
      let found = try Shown(writer.snapshot())
      try #require(found == recording.reported)
      try increment([Product("after", "1")], [Relation("after", "p1")], "after \(writer.nextSequence)")(writer)
      return try Shown(writer.snapshot())
    }
    writer.close()
  }

  @Test func `after a crash cursor and rows are those of one commit, reported or on its way`() throws {
    var random = SeededGenerator(for: "CatalogCrashTests")
    var explorer = CrashExplorer(samples: depth == 1 ? [2, 1] : [10, 2, 1], show: Self.show, goOn: Self.goOn)
    for _ in 0..<depth {
      let device = SimulatedDevice()
      let recording = CrashRecording(device, showing: try Shown(.empty))
      var writer = try CatalogWriter(Self.location(device, seed: random.next()), indexes: Self.indexes)
      for (step, act) in try Self.acts(&random).enumerated() {
        try recording.step {
          try act(writer)
          return try Shown(writer.snapshot())
        }
        if step == 4 {
          writer.close()
          writer = try CatalogWriter(Self.location(device), indexes: Self.indexes)
        }
      }
      writer.close()
      try explorer.explore(recording, &random)
    }
    print("CatalogCrashTests: \(explorer.crashes) crashes, \(explorer.distinctStates) distinct states")
    #expect(explorer.distinctStates > 50)
  }

  /// A catalogue of two commits, in the base of which a product is damaged.
  private static func damagedLog() throws -> [UInt8] {
    let device = SimulatedDevice()
    let writer = try CatalogWriter(location(device), indexes: indexes)
    var first = Product("a", "1", name: "first")
    first.extra = try ProductExtra(json: #"{"price":1,"carton":"7a","color":"red"}"#)
    try full([first, Product("b", "2", name: "second")], [Relation("a", "b")], "full")(writer)
    try increment([Product("c", "3")], [], "increment")(writer)
    writer.close()
    var log = device.contents("catalog.log") ?? []
    let place = try #require(log.indices.first { log[$0...].starts(with: Array("second".utf8)) })
    log[place] ^= 1
    return log
  }

  @Test(.disabled(if: testsAreSealed, "it looks for a row in clear"))
  func `a crash during a repair leaves the damaged catalogue or the repaired one, and always the damaged log`()
    throws
  {
    var random = SeededGenerator(for: "CatalogCrashTests, repair")
    let damaged = try Self.damagedLog()
    let show: (SimulatedDevice) throws -> Shown = { device in
      if device.contents("catalog.log") == damaged { return .damaged }
      try #require(device.names.contains { $0.hasPrefix("catalog.damaged-") && device.contents($0) == damaged })
      return try Self.show(device)
    }
    let repair: (CrashRecording<Shown>) throws -> Void = { recording in
      if recording.reported == .damaged {
        try recording.step {
          let repair = try #require(try CatalogRepair.run(Self.location(recording.device)))
          try #require(repair.losses.count == 1 && repair.snapshot.cursor == "")
          return try Shown(repair.snapshot)
        }
      }
    }
    var explorer = CrashExplorer(
      samples: depth == 1 ? [4, 2] : [200, 20, 5], show: show,
      goOn: { recording in
        try repair(recording)
        try Self.goOn(recording)
      })
    let device = SimulatedDevice(DiskImage(["catalog.log": damaged]))
    let recording = CrashRecording(device, showing: Shown.damaged)
    try repair(recording)
    try explorer.explore(recording, &random)
    print("CatalogCrashTests: \(explorer.crashes) crashes in a repair, \(explorer.distinctStates) distinct states")
    #expect(explorer.distinctStates > 5)
  }

  @Test func `a call that fails under an update leaves cursor and rows of one commit`() throws {
    var random = SeededGenerator(for: "CatalogCrashTests, faults")
    var faults = 0
    for _ in 0..<depth {
      let device = SimulatedDevice()
      var writer = try CatalogWriter(Self.location(device, seed: random.next()), indexes: Self.indexes)
      for act in try Self.acts(&random) {
        let image = device.image
        let before = try Shown(writer.snapshot())
        try act(writer)
        let after = try Shown(writer.snapshot())
        writer.close()
        var number = 1
        while true {
          let trial = SimulatedDevice(image)
          let kinds = DeviceCall.write.faults
          trial.fail(nil, number, kinds[number % kinds.count])
          var allowed = [before, after]
          do {
            let writer = try CatalogWriter(Self.location(trial), indexes: Self.indexes)
            try act(writer)
            allowed = [after]
            writer.close()
          } catch let error as StoreError {
            #expect("\(error)".contains("/simulated"))
          }
          if trial.failNoMore() == nil { break }
          faults += 1
          number += 1
          try #require(try allowed.contains(Self.show(trial)))
          let crashed = trial.crashed(.random(&random), &random)
          try #require(try allowed.contains(Self.show(crashed)))
          try Self.goOn(CrashRecording(trial, showing: try Self.show(trial)))
        }
        writer = try CatalogWriter(Self.location(device), indexes: Self.indexes)
      }
      writer.close()
    }
    print("CatalogCrashTests: \(faults) faults")
    #expect(faults > 100)
  }
}
