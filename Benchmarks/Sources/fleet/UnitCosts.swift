import Catalog
import CatalogHTTP
import CatalogRows
import CatalogSync
import Cryptography
import Foundation
import LogStore
import ObjectStores
import PublicationFormat
import PublicationSync
import Publisher
import ServerAnswers

/// What each thing costs that the month is made of.
struct Costs {
  var headByteCount = 0
  var baseByteCount = 0
  /// The bytes of a delta of 1,000 rows, or of the base if there is none because all rows cost less.
  var deltaByteCount = 0
  /// The bytes and requests of a poll without news.
  var pollByteCount = 0
}

/// A publisher that publishes into a directory, with the catalogue that it publishes.
struct BenchPublisher {
  let source: StoreLocation
  let published: StoreLocation
  let target: String
  let key: SignifySecretKey
  private(set) var rows: FleetRows
  private var revision = 0

  init(_ options: FleetOptions, _ folder: BenchFolder) throws {
    rows = try FleetRows(options)
    source = try folder.location("source")
    published = try folder.location("publisher")
    target = folder.path + "/public"
    key = try SignifySecretKey.new("fleet")
    let writer = try CatalogWriter(source)
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    for row in rows.relations { try update.relation(row) }
    for row in rows.products { try update.product(row) }
    _ = try update.commit(cursor: "0")
  }

  var snapshot: CatalogSnapshot { get throws { try CatalogReader.open(source)?.snapshot() ?? .empty } }

  /// Changes rows of the source, and returns them.
  mutating func change(_ count: Int) throws -> [ProductRow] {
    revision += 1
    let changed = rows.change(count, revision: revision)
    let writer = try CatalogWriter(source)
    defer { writer.close() }
    var increment = writer.beginIncrement()
    for row in changed { try increment.product(row) }
    _ = try increment.commit(cursor: "\(revision)")
    return changed
  }

  func publish() async throws -> (PublishReport, Took) {
    let options = PublisherOptions(key: key, publisher: "fleet")
    let snapshot = try snapshot
    return try await Took.of {
      try await Publisher(published, to: DirectoryStore(target), options).publish(snapshot)
    }
  }
}

/// A device with a catalogue of its own.
struct BenchDevice {
  let location: StoreLocation
  let origin: FileTransport
  let rootKey: SignifyPublicKey

  init(_ location: StoreLocation, _ url: String, _ rootKey: SignifyPublicKey, authority: String? = nil) throws {
    self.location = location
    self.rootKey = rootKey
    var options = TransportOptions()
    options.certificateAuthorityFile = authority
    origin = try FileTransport(url: url, options: options)
  }

  func sync() async throws -> PublicationReport {
    let client = PublicationClient(
      origin: origin, cache: PublicationCache(of: location), rootKey: rootKey, deviceNumber: 50)
    return try await PublicationSync(client).run(SyncDestination(location))
  }

  var digest: String {
    get throws { try CatalogDigest(CatalogReader.open(location)?.snapshot() ?? .empty).description }
  }
}

/// The unit costs, of a publication and of the server's protocol with the same rows, in the same run.
struct UnitCosts {
  private let options: FleetOptions
  private let folder: BenchFolder

  init(_ options: FleetOptions, _ folder: BenchFolder) {
    self.options = options
    self.folder = folder
  }

  func run() async throws -> Costs {
    printMachine(options.seed)
    var publisher = try BenchPublisher(options, folder)
    print("\(publisher.rows.products.count) products, \(publisher.rows.relations.count) relations\n")
    var costs = Costs()
    let (first, published) = try await publisher.publish()
    costs.baseByteCount = first.baseByteCount ?? 0
    guard Nginx.path != nil else {
      throw Command.Failed(description: "there is no nginx, which serves the files: install it (Debian: nginx-light)")
    }
    let nginx = try Nginx(publisher.target, folder, hasTLS: true)
    let device = try BenchDevice(folder.location("device"), nginx.url, publisher.key.publicKey)
    let server = try folder.location("server")
    print(
      "| | bytes | requests | publisher, processor | device, processor | server's answer, bytes | encoding it | taking it |"
        + " bytes, ratio | device, ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    let (base, adopted) = try await Took.of { try await device.sync() }
    let full = try answer(publisher.rows.products, publisher.rows.relations, .full, server)
    printRow("first base", base, published, adopted, full)
    for count in [1, 100, 1000] {
      let changed = try publisher.change(count)
      let (report, published) = try await publisher.publish()
      let (delta, applied) = try await Took.of { try await device.sync() }
      let increment = try answer(changed, [], .incremental, server)
      printRow("\(count) changed \(count == 1 ? "row" : "rows"), \(delta.mode)", delta, published, applied, increment)
      let shortest = report.deltas.first { $0.from + 1 == $0.to }
      if count == 1000 { costs.deltaByteCount = shortest?.file.byteCount ?? costs.baseByteCount }
    }
    let (poll, polled) = try await Took.of { try await device.sync() }
    costs.pollByteCount = poll.bytesIn
    print(
      "| poll without news | \(Figure.bytes(poll.bytesIn)) | \(poll.requests) | – |"
        + " \(Figure.milliseconds(polled.processor)) | – | – | – | – | – |")
    let head = try [UInt8](Data(contentsOf: URL(filePath: publisher.target + "/" + PublicationHead.signatureName)))
    costs.headByteCount = 2 * head.count
    let isRight = try device.digest == CatalogDigest(publisher.snapshot).description
    guard isRight else { throw Command.Failed(description: "the device has other rows than were published") }
    try await pollWithTLS(publisher, nginx)
    print(
      "\nThe device's time includes its commit and the check of its digest. Its bytes are heads and bodies of answers; what"
        + " TLS adds to them is not counted.")
    return costs
  }

  private struct Answer {
    var byteCount: Int
    var encoding: Took
    var taking: Took
  }

  /// A server's answer with these rows: made, and taken by a catalogue of its own.
  private func answer(
    _ products: [ProductRow], _ relations: [RelationRow], _ mode: UpdateMode, _ location: StoreLocation
  ) throws -> Answer {
    let (bytes, encoding) = Took.of { () -> [UInt8] in
      let encoder = PayloadEncoder()
      for row in relations { encoder.relation(row) }
      for row in products { encoder.product(row) }
      encoder.finish(updateTime: "2026-11-28 10:00:00")
      return encoder.takeOutput()
    }
    let (_, taking) = try Took.of {
      let writer = try CatalogWriter(location)
      defer { writer.close() }
      var options = ImportOptions()
      // A server would answer 1,000 changed rows with all rows.
      options.threshold = nil
      var importing = try AnswerImport(writer, mode, options)
      for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
        let piece = Array(bytes[start..<min(start + 1 << 16, bytes.count)])
        try importing.consume(piece.span)
      }
      _ = try importing.finish()
    }
    return Answer(byteCount: bytes.count, encoding: encoding, taking: taking)
  }

  private func printRow(
    _ name: String, _ report: PublicationReport, _ published: Took, _ device: Took, _ answer: Answer
  ) {
    let ratio = Double(report.bytesIn) / Double(answer.byteCount)
    print(
      "| \(name) | \(Figure.bytes(report.bytesIn)) | \(report.requests) | \(Figure.milliseconds(published.processor)) |"
        + " \(Figure.milliseconds(device.processor)) | \(Figure.bytes(answer.byteCount)) |"
        + " \(Figure.milliseconds(answer.encoding.processor)) | \(Figure.milliseconds(answer.taking.processor)) |"
        + " \(Figure.number(ratio)) × | \(Figure.number(device.processor / answer.taking.processor)) × |")
  }

  /// Polls over TLS. nginx closes each connection, so each poll has a handshake.
  private func pollWithTLS(_ publisher: BenchPublisher, _ nginx: Nginx) async throws {
    guard let url = nginx.secureURL else { return }
    let location = try folder.location("secure")
    func device() throws -> BenchDevice {
      try BenchDevice(location, url, publisher.key.publicKey, authority: nginx.authorityPath)
    }
    let kept = try device()
    _ = try await kept.sync()
    let count = options.isQuick ? 20 : 200
    print("\n| a poll over TLS, mean of \(count) | device, processor | nginx, processor | sessions resumed |")
    print("|---|---|---|---|")
    for (name, isKept) in [("with a client that keeps its sessions", true), ("with a new client each time", false)] {
      let before = nginx.readLog()
      let processor = nginx.processorSeconds
      let (_, took) = try await Took.of {
        for _ in 0..<count { _ = try await (isKept ? kept : device()).sync() }
      }
      let serving = nginx.processorSeconds - processor
      let after = nginx.readLog()
      print(
        "| \(name) | \(Figure.milliseconds(took.processor / Double(count))) |"
          + " \(Figure.milliseconds(serving / Double(count))) |"
          + " \(after.resumedCount - before.resumedCount) of \(after.requestCount - before.requestCount) |")
    }
  }
}
