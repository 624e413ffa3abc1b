import Catalog
import Foundation
import PublicationFormat
import PublicationSync

/// A morning of real clients against nginx on loopback: a cold start of all, polls, and publications in between.
struct Morning {
  private let options: FleetOptions
  private let folder: BenchFolder
  /// How many clients work at a time in this process.
  private static let width = 32

  init(_ options: FleetOptions, _ folder: BenchFolder) {
    var options = options
    // Each client has a catalogue of its own.
    options.productCount = min(options.productCount, options.isQuick ? 300 : 2000)
    self.options = options
    self.folder = folder
  }

  /// What the clients did in one round.
  private struct Round {
    var requests = 0
    var bytes = 0
    var errors: [String] = []
    var atHead = 0
  }

  func run() async throws {
    printMachine(options.seed)
    var publisher = try BenchPublisher(options, folder)
    _ = try await publisher.publish()
    let nginx = try Nginx(publisher.target, folder, hasTLS: false)
    let count = options.clientCount
    let devices = try (0..<count).map { number in
      try BenchDevice(folder.location("client-\(number)"), nginx.url, publisher.key.publicKey)
    }
    print("\(count) clients, \(publisher.rows.products.count) products, \(Self.width) at a time\n")
    print("| | requests | bytes | errors | at the head | clients, processor | nginx, processor | elapsed |")
    print("|---|---|---|---|---|---|---|---|")
    var errors: [String] = []
    let rounds = options.isQuick ? 2 : 6
    errors += try await round("cold start", devices, publisher, nginx)
    for number in 1...rounds {
      errors += try await round("polls", devices, publisher, nginx)
      _ = try publisher.change(number.isMultiple(of: 2) ? 100 : 20)
      _ = try await publisher.publish()
      errors += try await round("publication \(number + 1)", devices, publisher, nginx)
    }
    let wanted = try CatalogDigest(publisher.snapshot).description
    let wrong = try devices.filter { try $0.digest != wanted }.count
    let log = nginx.readLog()
    let statuses = log.statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
    print("\nnginx answered \(log.requestCount) requests (\(statuses)) with \(Figure.bytes(log.bytes))")
    for error in Set(errors).sorted().prefix(5) { print("error: \(error)") }
    print("\(count - wrong) of \(count) clients have the rows of the head")
    guard wrong == 0, errors.isEmpty else {
      throw Command.Failed(description: "\(wrong) clients have other rows, and there were \(errors.count) errors")
    }
  }

  private func round(
    _ name: String, _ devices: [BenchDevice], _ publisher: BenchPublisher, _ nginx: Nginx
  ) async throws -> [String] {
    let head = try PublicationHead(
      json: [UInt8](Data(contentsOf: URL(filePath: publisher.target + "/" + PublicationHead.name))))
    let before = nginx.processorSeconds
    let width = Self.width
    let (round, took) = await Took.of {
      await withTaskGroup(of: Round.self) { group in
        for first in 0..<min(width, devices.count) {
          group.addTask {
            var round = Round()
            for index in stride(from: first, to: devices.count, by: width) {
              do {
                let report = try await devices[index].sync()
                round.requests += report.requests
                round.bytes += report.bytesIn
                if report.sequence == head.sequence { round.atHead += 1 }
              } catch { round.errors.append("\(error)") }
            }
            return round
          }
        }
        return await group.reduce(into: Round()) { sum, round in
          sum.requests += round.requests
          sum.bytes += round.bytes
          sum.errors += round.errors
          sum.atHead += round.atHead
        }
      }
    }
    print(
      "| \(name) | \(round.requests) | \(Figure.bytes(round.bytes)) | \(round.errors.count) | \(round.atHead) |"
        + " \(Figure.number(took.processor)) s | \(Figure.number(nginx.processorSeconds - before)) s |"
        + " \(Figure.number(took.wall)) s |")
    return round.errors
  }
}
