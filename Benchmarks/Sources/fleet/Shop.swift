import Catalog
import CatalogHTTP
import CatalogSync
import Foundation
import LogStore
import PublicationFormat
import PublicationSync
import Synchronization

/// The time of a shop, which runs faster than that of the wall.
struct ShopTime: Sendable {
  let scale: Double
  private let start = Took.now().wall

  init(scale: Double) { self.scale = scale }

  /// Seconds since the beginning.
  var now: Double { (Took.now().wall - start) * scale }
  func sleep(_ seconds: Double) async throws { try await Task.sleep(for: .seconds(seconds / scale)) }
}

/// The line of the shop: all that is fetched from the publisher passes it, one piece after the other, and not while it is
/// cut. It counts what has passed.
final class Line: PublicationOrigin {
  /// Bytes a second: 1 Mbit/s.
  private static let rate = 125_000.0
  /// What a request and the head of its answer take besides the body, both ways.
  private static let overhead = 450

  private let root: String
  private let time: ShopTime
  private let state = Mutex((requests: 0, bytes: 0, objectBytes: 0, isFreeAt: 0.0))

  init(_ root: String, _ time: ShopTime) {
    self.root = root
    self.time = time
  }

  var name: String { "line" }
  var traffic: (requests: Int, bytesIn: Int) { state.withLock { ($0.requests, $0.bytes) } }
  /// The bytes of immutable files.
  var objectByteCount: Int { state.withLock { $0.objectBytes } }

  /// Whether the line is cut, in the second half of each hour.
  static func isCut(_ time: Double) -> Bool { time.truncatingRemainder(dividingBy: 3600) >= 1800 }

  /// Waits until bytes have passed.
  private func pass(_ count: Int, of name: String) async throws {
    let now = time.now
    if Self.isCut(now) { throw PublicationFailure.unavailable("the line is cut") }
    let end = state.withLock { state in
      state.bytes += count
      if name.hasPrefix("objects/") { state.objectBytes += count }
      state.isFreeAt = max(state.isFreeAt, now) + Double(count) / Self.rate
      return state.isFreeAt
    }
    if end > now { try await time.sleep(end - now) }
    if Self.isCut(time.now) { throw PublicationFailure.unavailable("the line was cut") }
  }

  func contents(
    of name: String, limit: Int, validators: FileValidators?, isFresh: Bool
  ) async throws -> OriginContents {
    state.withLock { $0.requests += 1 }
    try await pass(Self.overhead, of: name)
    guard let bytes = try? [UInt8](Data(contentsOf: URL(filePath: root + "/" + name))) else {
      return .missing(status: 404)
    }
    let validator = FileValidators(etag: "\(bytes.count)-\(bytes.hashValue)", lastModified: nil)
    if let validators, validators.etag == validator.etag { return .unchanged }
    guard bytes.count <= limit else { throw PublicationFailure.unavailable("\(name) is too long") }
    try await pass(bytes.count, of: name)
    return .bytes(bytes, validator)
  }

  nonisolated(nonsending) func read(
    _ name: String, _ range: Range<Int>, isFresh: Bool, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> Bool {
    state.withLock { $0.requests += 1 }
    try await pass(Self.overhead, of: name)
    guard let bytes = try? [UInt8](Data(contentsOf: URL(filePath: root + "/" + name))) else { return false }
    let part = Array(bytes[range.clamped(to: 0..<bytes.count)])
    for start in stride(from: 0, to: part.count, by: 16_000) {
      let piece = Array(part[start..<min(start + 16_000, part.count)])
      try await pass(piece.count, of: name)
      try onPiece(piece.span)
    }
    return part.count == range.count
  }
}

/// Waits for the turn of the mirror's catalogue, which its own synchronisation and its neighbours' files take.
func taking<Result>(_ time: ShopTime, _ body: () async throws -> Result) async throws -> Result {
  while true {
    do { return try await body() } catch PublicationFailure.busy { try await time.sleep(1) }
  }
}

/// What a neighbour serves of what it keeps. A file that it does not have is fetched over the line when the first device
/// asks for it, once for all, as the daemon's mirror does.
final class ShopMirror: PublicationOrigin {
  private static let changing = [
    PublicationHead.name: PublicationCache.head, PublicationHead.signatureName: PublicationCache.headSignature,
    KeyList.name: PublicationCache.keys, KeyList.signatureName: PublicationCache.keysSignature,
  ]

  private let cache: PublicationCache
  private let client: PublicationClient
  private let fetches = Mutex<[String: Task<Void, Never>]>([:])

  private let time: ShopTime

  init(_ cache: PublicationCache, _ client: PublicationClient, _ time: ShopTime) {
    self.cache = cache
    self.client = client
    self.time = time
  }

  var name: String { "mirror" }
  var traffic: (requests: Int, bytesIn: Int) { (0, 0) }

  private func bytes(_ name: String) async throws -> [UInt8]? {
    if let file = Self.changing[name] { return try cache.read(file) }
    if let kept = try cache.openObject(name) { return try kept.read(kept.size(), at: 0) }
    func head() -> PublicationHead? {
      let json = (try? cache.read(PublicationCache.head)) ?? []
      guard let head = try? PublicationHead(json: json) else { return nil }
      return head.objects.contains { $0.name == name } ? head : nil
    }
    let task = fetches.withLock { running in
      if let task = running[name] { return task }
      let task = Task { [self] in
        var known = head()
        if known == nil {
          // A neighbour may have seen a newer head.
          _ = try? await client.head(nil, takesOther: false)
          known = head()
        }
        if let known { try? await taking(time) { try await client.fetchObject(name, known) } }
        fetches.withLock { $0[name] = nil }
      }
      running[name] = task
      return task
    }
    await task.value
    guard let kept = try cache.openObject(name) else {
      throw PublicationFailure.unavailable("the mirror could not fetch \(name)")
    }
    return try kept.read(kept.size(), at: 0)
  }

  func contents(
    of name: String, limit: Int, validators: FileValidators?, isFresh: Bool
  ) async throws -> OriginContents {
    guard let bytes = try await bytes(name) else { return .missing(status: 404) }
    return .bytes(bytes, nil)
  }

  nonisolated(nonsending) func read(
    _ name: String, _ range: Range<Int>, isFresh: Bool, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> Bool {
    guard let bytes = try await bytes(name) else { return false }
    let part = Array(bytes[range.clamped(to: 0..<bytes.count)])
    try onPiece(part.span)
    return part.count == range.count
  }
}

/// A shop: devices behind one line, one of which is the mirror of the others.
struct Shop {
  private let options: FleetOptions
  private let folder: BenchFolder
  private let time: ShopTime
  private let hours: Int
  private let deviceCount: Int
  /// How often a device asks, in seconds.
  private static let interval = 20.0

  init(_ options: FleetOptions, _ folder: BenchFolder) {
    var options = options
    // Each device has a catalogue of its own, and time runs fast.
    options.productCount = min(options.productCount, 20_000)
    self.options = options
    self.folder = folder
    deviceCount = options.isQuick ? 5 : 100
    hours = options.isQuick ? 1 : 2
    time = ShopTime(scale: options.isQuick ? 240 : 20)
  }

  /// The state that each device has, and since when.
  private final class Board: Sendable {
    private let states: Mutex<[UInt64]>
    init(_ count: Int) { states = Mutex([UInt64](repeating: 0, count: count)) }
    func set(_ device: Int, _ sequence: UInt64) { states.withLock { $0[device] = sequence } }
    func count(of sequence: UInt64) -> Int { states.withLock { $0.count { $0 >= sequence } } }
  }

  func run() async throws {
    printMachine(options.seed)
    var publisher = try BenchPublisher(options, folder)
    let (first, _) = try await publisher.publish()
    let line = Line(publisher.target, time)
    let rootKey = publisher.key.publicKey
    let location = try folder.location("device-0")
    let cache = PublicationCache(of: location, keepsObjects: true)
    let mirror = ShopMirror(
      cache, PublicationClient(origin: line, cache: cache, rootKey: rootKey, deviceNumber: 50), time)
    print(
      "\(deviceCount) devices, \(publisher.rows.products.count) products, a line of 1 Mbit/s that is cut in the second half of"
        + " each hour, a poll each \(Int(Self.interval)) s; \(Int(time.scale)) s pass in a second\n")
    let board = Board(deviceCount)
    let schedule = PollSchedule(interval: .seconds(Self.interval), jitter: 0, phase: 0)
    let devices = try (0..<deviceCount).map { try folder.location("device-\($0)") }
    var copy = first.baseByteCount ?? 0
    let tasks = devices.enumerated().map { number, location in
      let client = PublicationClient(
        origin: line, mirrors: number == 0 ? [] : [mirror],
        cache: PublicationCache(of: location, keepsObjects: number == 0), rootKey: rootKey, deviceNumber: 50)
      let time = time
      return Task {
        try await time.sleep(Double(number) / Double(devices.count) * Self.interval)
        while !Task.isCancelled {
          var client = client
          client.asksOriginToo = schedule.asksOriginToo(fraction: .random(in: 0..<1))
          let sync = PublicationSync(client)
          let report = try? await taking(time) { try await sync.run(SyncDestination(location)) }
          if let report {
            board.set(number, report.sequence)
          }
          try await time.sleep(Self.interval)
        }
      }
    }
    print("| | at, min | all have it after, s |")
    print("|---|---|---|")
    try await wait("all rows", 1, board, from: 0)
    for hour in 0..<hours {
      // One while the line is there, and one while it is cut.
      for (minute, name) in [(20, "published"), (45, "published while the line is cut, which returns")] {
        let at = Double(hour * 3600 + minute * 60)
        while time.now < at { try await time.sleep(5) }
        _ = try publisher.change(minute)
        let (report, _) = try await publisher.publish()
        copy += report.deltas.first { $0.from + 1 == $0.to }?.file.byteCount ?? report.baseByteCount ?? 0
        let start = Line.isCut(at) ? Double((hour + 1) * 3600) : time.now
        try await wait(name, report.sequence, board, from: start)
      }
    }
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.result }
    let wanted = try CatalogDigest(publisher.snapshot).description
    let wrong = try devices.count {
      try CatalogDigest(CatalogReader.open($0)?.snapshot() ?? .empty).description != wanted
    }
    let (requests, bytes) = line.traffic
    let heads = bytes - line.objectByteCount
    print(
      "\none copy: \(Figure.bytes(copy)); the line carried \(Figure.bytes(line.objectByteCount)) of objects,"
        + " \(Figure.number(Double(line.objectByteCount) / Double(copy))) × one copy (goal: at most 1.1 ×), and"
        + " \(Figure.bytes(heads)) of heads, keys and the overhead of \(requests) requests")
    print("\(deviceCount - wrong) of \(deviceCount) devices have the rows of the head")
    if wrong > 0 { throw Command.Failed(description: "\(wrong) devices have other rows than were published") }
  }

  private func wait(_ name: String, _ sequence: UInt64, _ board: Board, from start: Double) async throws {
    while board.count(of: sequence) < deviceCount { try await time.sleep(2) }
    print("| \(name) | \(Figure.number(start / 60)) | \(Figure.number(max(0, time.now - start))) |")
  }
}
