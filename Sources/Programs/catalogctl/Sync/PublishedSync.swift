import Catalog
import CatalogHTTP
import CatalogSync
import Cryptography
import DocumentFormat
import Essentials
import JSONFormat
import Platform
import PublicationFormat
import PublicationSync
import Workspace

/// A synchronisation with a publication.
struct PublishedSync {
  let store: StoreOptions
  let write: WriteOptions
  let output: OutputOptions
  let accept: UpdateOptions
  /// The publication, the mirrors that are asked first, and the root key.
  let url: String
  let mirrors: [String]
  let rootKey: String?
  let isFull: Bool

  func run(_ options: (String) throws -> TransportOptions) async throws {
    let start = ContinuousClock.now
    let user = try store.userID()
    let location = try store.workspace.makeCatalogue(of: user)
    let key = try rootKey.map(KeyFiles.publicKey)
    let client = PublicationClient(
      origin: try FileTransport(url: url, options: options(url)),
      mirrors: try mirrors.map { try FileTransport(url: $0, options: options($0).ofMirror) },
      cache: PublicationCache(of: location), rootKey: key,
      deviceNumber: try PublicationClient.deviceNumber(of: PublicationClient.deviceID(ofUser: user)))
    var sync = PublicationSync(client)
    sync.lossLimit = accept.lossLimit
    sync.isFull = isFull
    sync.checkProbe = { try PublicationProbeCheck.check($0, $1) }
    let destination = SyncDestination(location) { try store.writer(lockTimeout: write.lockTimeout) }
    let report = try await sync.run(destination) { _, update in
      DurableChange.report(commit: update.sequence, filesAfter: 0)
    }
    if report.update != nil, let writer = try? store.writer(lockTimeout: write.lockTimeout) {
      writer.tidyUp()
      writer.close()
    }
    print(report, seconds: (ContinuousClock.now - start) / .seconds(1))
  }

  private func print(_ report: PublicationReport, seconds: Double) {
    for note in report.notes { Console.say("catalogctl: warning: \(note)") }
    if let number = report.trustedFirstKey {
      Console.say(
        "catalogctl: warning: took the root key \(number) from the publication itself, and keeps to it from now on; compare"
          + " it with the publisher's, or give it with --root-key FILE.pub")
    }
    let now = Date()
    if report.isExpired(at: now) {
      Console.say(
        "catalogctl: warning: the head has expired at \(DateText.text(report.head.expires)): the publisher has not published"
          + " since; scans go on")
    }
    if output.json {
      var fields = (report.update ?? last)?.fields(bytesIn: report.bytesIn) ?? [("bytesIn", .int(report.bytesIn))]
      fields.removeAll { $0.0 == "mode" }
      fields = [("mode", .text(report.mode.rawValue))] + fields
      fields += [
        ("requests", .int(report.requests)), ("published", .uint(report.sequence)),
        ("expires", .text(DateText.text(report.head.expires))), ("stale", .bool(report.isExpired(at: now))),
        ("waitsFor", .optional(report.waitsFor)), ("seconds", .double((seconds * 1000).rounded() / 1000)),
      ]
      return JSONText.object(fields).print()
    }
    let traffic = "\(Quantity.bytes(report.bytesIn)) in \(Quantity.of(report.requests, "request"))"
    if let time = report.waitsFor {
      return Console.print(
        "state \(report.head.sequence) of the publication is here, and counts from \(time); until then"
          + " \(report.sequence) does; \(traffic)")
    }
    guard let update = report.update else {
      return Console.print("state \(report.sequence) of the publication is the newest for this device; \(traffic)")
    }
    let words = report.mode == .base ? "all rows" : "what changed"
    Console.print(
      "state \(report.sequence) of the publication, \(words): \(Quantity.of(update.counts.productsUpserted, "product"))"
        + " upserted, \(Quantity.count(update.counts.productsDeleted)) deleted; commit \(update.sequence)")
    Console.print("\(traffic), \(Quantity.rounded(seconds)) s; cursor \(update.cursor.shown)")
  }

  private var last: UpdateReport? { (try? store.snapshot()).flatMap(UpdateReport.init(ofLast:)) }
}

extension TransportOptions {
  /// The options for a mirror: there is another place to ask, so it is asked once, and not waited for.
  var ofMirror: TransportOptions {
    var options = self
    options.retry.maximumAttempts = 1
    options.connectTimeout = min(connectTimeout, .seconds(5))
    return options
  }
}
