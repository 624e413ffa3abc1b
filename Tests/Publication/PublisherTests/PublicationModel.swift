import Catalog
import CatalogSync
import CatalogTestSupport
import Cryptography
import Essentials
import LogStore
import ObjectStores
import PublicationFormat
import PublicationSync
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Publisher

/// A device of the model: its disk, its clock, and the places that it asks.
final class ModelDevice {
  let name: String
  let number: Double
  let rootKey: SignifyPublicKey?
  let origin: LyingOrigin
  let mirrors: [LyingOrigin]
  var disk = SimulatedDevice()
  /// How far the clock is ahead of the right time, in seconds.
  var clockError: TimeInterval = 0

  init(_ name: String, number: Double, rootKey: SignifyPublicKey?, mirrorCount: Int, forger: SignifySecretKey) {
    self.name = name
    self.number = number
    self.rootKey = rootKey
    origin = LyingOrigin("origin", forger: forger)
    mirrors = (0..<mirrorCount).map { LyingOrigin("mirror \($0)", forger: forger) }
  }

  private var location: StoreLocation {
    StoreLocation.test(disk.directory, name: "catalog", environment: FixedEnvironment().environment())
  }

  var snapshot: CatalogSnapshot? { get throws { try CatalogReader.open(location)?.snapshot() } }
  var sequence: UInt64 { get throws { try snapshot?.publication?.sequence ?? 0 } }

  func sync(at now: Date, keepsObjects: Bool) async throws -> PublicationReport {
    let location = location
    var client = PublicationClient(
      origin: origin, mirrors: mirrors, cache: PublicationCache(of: location, keepsObjects: keepsObjects),
      rootKey: rootKey, deviceNumber: number)
    client.pauses = [.zero, .zero]
    var sync = PublicationSync(client)
    sync.lossLimit = .open
    let clock = now.addingTimeInterval(clockError)
    sync.now = { clock }
    return try await sync.run(SyncDestination(location) { try CatalogWriter(location, indexes: .none) })
  }
}

/// A publication whose publishers, devices, places, clocks and keys fail at random, and what must be true of it always.
///
/// - A device has exactly the rows of a state that some published head has for its ring, and never of an older one than
///   before, also after it lost power.
/// - If the origin is honest, a device has what the newest head has for it, whatever its mirrors answer. Otherwise it has
///   that, or an earlier state, or says why not.
/// - Once all faults are over, one synchronisation brings each device to the newest head.
final class PublicationModel {
  let scene: Scene
  var rows: RowGenerator
  private let forger: SignifySecretKey
  private let rootKey: SignifySecretKey
  /// The right time, and how far the publisher's clock is ahead of it.
  private var now = Date(timeIntervalSince1970: 1_800_000_000)
  private var publisherError: TimeInterval = 0
  private var devices: [ModelDevice] = []
  /// Whether the keys are being replaced, and the head is still signed by one of the former ones.
  private var isRotating = false
  /// All files of the place at different times, the newest last.
  private var history: [(time: Date, files: [String: [UInt8]])] = []
  /// Each head that devices could see.
  private var heads: [PublicationHead] = []
  /// What was done, for messages.
  private(set) var log: [String] = []
  /// How often a device was synchronised, refused something, and lost power.
  private(set) var counts = (syncs: 0, failures: 0, crashes: 0)

  init(_ rows: RowGenerator) throws {
    scene = try Scene()
    self.rows = rows
    forger = try SignifySecretKey.new("forger")
    rootKey = scene.key
  }

  /// One series: publications with a few devices, then the end of all faults.
  func run(steps: Int) async throws {
    let mirrorCounts = [0, 1, 2]
    for number in 0..<2 {
      // A device without a root key takes the one of the origin.
      let key = number == 1 && rows.chance(30) ? nil : rootKey.publicKey
      devices.append(
        ModelDevice(
          "device \(number)", number: Double.random(in: 0..<100, using: &rows.random), rootKey: key,
          mirrorCount: rows.pick(mirrorCounts), forger: forger))
    }
    try scene.change(&rows, size: 20)
    try await publish()
    for _ in 0..<steps {
      now.addTimeInterval(Double.random(in: 30...100_000, using: &rows.random))
      try await publisherStep()
      for device in devices where rows.chance(50) { try await sync(device) }
    }
    try await end()
  }

  private func comment(_ text: String = "") -> Comment { "\(text), after \(log.joined(separator: "; "))" }

  // MARK: Publishers

  /// Keeps what devices can see now.
  private func record() {
    history.append((now, scene.store.files))
    for head in visibleHeads where !heads.contains(head) { heads.append(head) }
  }

  /// The head, and the one that its signature signs: if the publisher dies between the two, that is the next one. A device
  /// that is told that the head has not changed does not see it.
  private var visibleHeads: [PublicationHead] {
    let files = scene.store.files
    let signed = files[PublicationHead.signatureName].flatMap { try? SignifySignature.embedded(in: $0).message }
    return [files[PublicationHead.name], signed].compactMap { $0.flatMap { try? PublicationHead(json: $0) } }
  }

  private func setClock() {
    let time = now.addingTimeInterval(publisherError)
    scene.options.now = { time }
  }

  /// The number of the state that a publisher who is interrupted would publish next.
  private func nextSequence() throws -> UInt64 {
    let place = PublisherDirectory(Scene.location(scene.device))
    let state = try place.state()
    let pending = try state?.head.map { try PublicationHead(json: Array($0.utf8)).sequence } ?? 0
    let mark = try CatalogReader.open(place.published)?.snapshot().publication?.sequence ?? 0
    let isDropped = state?.isPending == true && mark < pending
    return isDropped ? pending : pending + 1
  }

  /// Publishes the source, which must succeed.
  private func publish() async throws {
    setClock()
    log.append("publish")
    try await scene.publish()
    record()
  }

  private func publisherStep() async throws {
    switch Int.random(in: 0..<20, using: &rows.random) {
    case 0, 1: try await setRings()
    case 2: try await rollBack()
    case 3: try await prune()
    case 4, 5: try await dieAtObject()
    case 6: try await dieAtLocalStep()
    case 7: try await race()
    case 8, 9: try await rotateKeys()
    case 10:
      publisherError = rows.pick([0, -86_400, 86_400])
      log.append("the publisher's clock is wrong by \(Int(publisherError)) s")
    case 11:
      now.addTimeInterval(366 * 86_400)
      log.append("a year passes")
    case 12:
      // A state that counts from a time on.
      let time = now.addingTimeInterval(Double.random(in: -3600...90_000, using: &rows.random))
      scene.options.activation = String(time.formatted(.iso8601).prefix(19)) + rows.pick(["Z", "+02:00", ""])
      try scene.change(&rows, size: 20)
      log.append("a state for \(scene.options.activation ?? "")")
      try await publish()
      scene.options.activation = nil
    default:
      for _ in 0..<Int.random(in: 1...2, using: &rows.random) { try scene.change(&rows, size: 20) }
      try await publish()
    }
  }

  private func setRings() async throws {
    setClock()
    let head = try scene.head
    let states = Array(Set([head.sequence] + head.rings.map(\.sequence))).sorted()
    let count = Int.random(in: 1...3, using: &rows.random)
    scene.options.rings = (1...count).map {
      PublicationHead.Ring(percent: Double(100 * $0) / Double(count), sequence: rows.pick(states))
    }
    log.append("rings \(scene.options.rings?.map(\.sequence) ?? [])")
    _ = try await scene.publisher.setRings()
    scene.options.rings = nil
    record()
  }

  private func rollBack() async throws {
    setClock()
    let newest = try scene.head.sequence
    let state = UInt64.random(in: 1...newest, using: &rows.random)
    guard let snapshot = try? scene.publisher.snapshot(ofState: state) else { return }
    log.append("roll back to \(state)")
    let before = try nextSequence()
    let report = try await scene.publisher.publish(snapshot)
    if report.sequence >= before { scene.note(report.sequence, as: state) }
    record()
  }

  private func prune() async throws {
    setClock()
    let days = rows.pick([0, 0, 1, 20])
    log.append("prune \(days)")
    _ = try await scene.publisher.prune(after: Double(days) * 86_400, isDryRun: false)
    record()
  }

  private func dieAtObject() async throws {
    setClock()
    try scene.change(&rows, size: 20)
    try scene.note(nextSequence())
    let number = Int.random(in: 1...14, using: &rows.random)
    let death: MemoryStore.Death = rows.chance(50) ? .before(number) : .after(number)
    log.append("killed \(death)")
    scene.store.die(death)
    _ = try? await scene.publisher.publish(scene.source.snapshot)
    scene.store.live()
    record()
  }

  private func dieAtLocalStep() async throws {
    setClock()
    try scene.change(&rows, size: 20)
    try scene.note(nextSequence())
    let number = Int.random(in: 0...60, using: &rows.random)
    log.append("killed at step \(number)")
    scene.device.stop(after: scene.device.operations + number)
    _ = try? await scene.publisher.publish(scene.source.snapshot)
    scene.device = scene.device.crashed(.random(&rows.random), &rows.random)
    record()
  }

  /// Two publishers have the same state, and publish different rows at once. One of them goes on.
  private func race() async throws {
    setClock()
    // An interrupted publication is completed first.
    try await publish()
    let other = SimulatedDevice(scene.device.image)
    let second = Publisher(Scene.location(other), to: scene.store, scene.options)
    let theirs = try scene.source.snapshot
    try scene.change(&rows, size: 20)
    let ours = try scene.source.snapshot
    let earlier = try? second.snapshot(ofState: UInt64.random(in: 1...scene.head.sequence, using: &rows.random))
    let write = Int.random(in: 1...6, using: &rows.random)
    log.append("two publishers, the second at write \(write)")
    let count = Counter()
    let store = scene.store
    let rowsOfSecond = earlier ?? theirs
    store.afterWrites { _ in
      guard count.next() == write else { return }
      store.afterWrites(nil)
      _ = try? await second.publish(rowsOfSecond)
    }
    do { _ = try await scene.publisher.publish(ours) } catch PublisherError.otherPublisher {}
    store.afterWrites(nil)
    // The one whose head is there goes on; the other one has been told.
    let head = store.bytes(PublicationHead.name).map { String(decoding: $0, as: UTF8.self) }
    let sequence = try scene.head.sequence
    if try PublisherDirectory(Scene.location(other)).state()?.head == head {
      scene.device = other
      try scene.note(sequence, rowsOfSecond)
    } else {
      try scene.note(sequence, ours)
    }
    record()
  }

  /// Lets a new key sign, and maybe no other one any more. The process may die in between.
  private func rotateKeys() async throws {
    let keys = PublicationKeys(scene.store)
    let new = try SignifySecretKey.new("publisher")
    let known = try await keys.list().keys.compactMap { PublicationTrust.publicKey($0.key) }.map { "\($0.number)" }
    let retired = rows.chance(60) || known.count > 5 ? known : []
    let death = rows.chance(30) ? Int.random(in: 1...4, using: &rows.random) : nil
    log.append("rotate the keys, \(retired.count) withdrawn\(death.map { ", killed at \($0)" } ?? "")")
    if let death {
      scene.store.die(.before(death))
      _ = try? await keys.rotate(root: rootKey, adding: new.publicKey, retiring: retired, now: now)
      scene.store.live()
      record()
      // The key that signed the head may be withdrawn, and the new one has not signed yet: a device may refuse it.
      isRotating = true
      if rows.chance(50) { for device in devices { try await sync(device) } }
      isRotating = false
      // The root key's owner repeats it.
    }
    let list = try await keys.list().keys.compactMap { PublicationTrust.publicKey($0.key) }.map { "\($0.number)" }
    _ = try await keys.rotate(
      root: rootKey, adding: new.publicKey, retiring: retired.filter(list.contains), now: now)
    scene.options.key = new
    // A head that is signed by a key that was withdrawn is signed again.
    try await publish()
  }

  // MARK: Devices

  private func fault() -> LyingOrigin.Fault {
    LyingOrigin.Fault(
      lie: rows.pick(Lie.allCases),
      names: rows.pick(["", "catalogue", "catalogue.json", ".sig", "keys", "objects/", ".base", ".delta"]),
      isOfCaches: rows.chance(20), period: rows.pick([1, 1, 2, 4]))
  }

  /// Files of another time: all of them, or only those that change.
  private func staleFiles() -> [String: [UInt8]] {
    // Often of the last hour, else of any time.
    let recent = history.suffix(3)
    var files = rows.chance(70) ? rows.pick(Array(recent)).files : rows.pick(history).files
    if rows.chance(50) {
      for (name, bytes) in scene.store.files where name.hasPrefix("objects/") { files[name] = bytes }
    }
    if rows.chance(20),
      let name = files.keys.sorted().filter({ !$0.hasPrefix("objects/") }).randomElement(
        using: &rows.random)
    {
      // One of the files is of now, and the others are not.
      files[name] = scene.store.files[name]
    }
    return files
  }

  private func arrange(_ device: ModelDevice) throws -> (description: String, isHonest: Bool) {
    var description: [String] = []
    let isNew = try device.snapshot?.publication == nil
    for (place, chance) in [(device.origin, 40)] + device.mirrors.map({ ($0, 80) }) {
      var files = scene.store.files
      var faults: [LyingOrigin.Fault] = []
      var words = "honest"
      if rows.chance(chance) {
        if rows.chance(30) {
          files = staleFiles()
          words = "stale"
        }
        if words == "honest" || rows.chance(30) {
          faults = (0..<Int.random(in: 1...2, using: &rows.random)).map { _ in fault() }
          // Whoever the first key comes from can say anything.
          if isNew, device.rootKey == nil, place === device.origin { faults.removeAll { $0.lie == .forged } }
          words += " \(faults)"
        }
      }
      place.set(files, faults, seed: rows.random.next())
      description.append("\(place.name) \(words)")
    }
    let isHonest = description[0] == "origin honest" && !isRotating
    return (description.joined(separator: ", "), isHonest)
  }

  private func sync(_ device: ModelDevice) async throws {
    let (places, isHonest) = try arrange(device)
    device.clockError = rows.pick([0, 0, -86_400, 86_400])
    let before = try device.sequence
    let keepsObjects = rows.chance(30)
    let isKilled = rows.chance(25)
    if isKilled {
      let step = rows.pick([3, 10, 30, 60])
      device.disk.stop(after: device.disk.operations + Int.random(in: 0...step, using: &rows.random))
    }
    counts.syncs += 1
    log.append("\(device.name)\(isKilled ? " loses power" : ""), \(places), clock \(Int(device.clockError))")
    let wanted = visibleHeads.map { max(before, $0.state(ofDevice: device.number).sequence) }
    do {
      let report = try await device.sync(at: now, keepsObjects: keepsObjects)
      if !isKilled {
        let after = try device.sequence
        #expect(report.sequence == after, comment())
        let isBehind = isHonest && !wanted.contains(after)
        if isBehind { checkWaits(device, report) }
        try checkNotTooEarly(device, after, before)
      }
    } catch let failure as PublicationFailure {
      counts.failures += 1
      if isHonest, !isKilled { Issue.record("\(failure), although the origin is honest; \(comment())") }
    } catch {
      if !isKilled { Issue.record("\(error) says nothing about the publication; \(comment())") }
    }
    if isKilled {
      counts.crashes += 1
      device.disk = device.disk.crashed(.random(&rows.random), &rows.random)
    }
    try check(device, before)
  }

  /// A device of an honest origin is behind only if its state has a time that has not come, or its clock is wrong.
  private func checkWaits(_ device: ModelDevice, _ report: PublicationReport) {
    let times = visibleHeads.map { $0.state(ofDevice: device.number).activation }
    #expect(report.waitsFor != nil && times.contains(report.waitsFor), comment("\(report.notes)"))
  }

  /// A device with a right clock does not switch before the time of a state, unless it had no rows.
  private func checkNotTooEarly(_ device: ModelDevice, _ after: UInt64, _ before: UInt64) throws {
    guard device.clockError == 0, after > before, before > 0 else { return }
    let times = heads.compactMap { $0.state(after) }.map(\.activation)
    guard let activation = times.first, let text = activation, times.allSatisfy({ $0 == text }) else { return }
    let seconds = Int(now.timeIntervalSince1970)
    if case .instant(let time) = ActivationTime(text) { #expect(seconds >= time, comment()) }
  }

  /// The device has the rows of a state that some head had for it.
  private func check(_ device: ModelDevice, _ before: UInt64) throws {
    let snapshot = try device.snapshot
    guard let snapshot, let sequence = snapshot.publication?.sequence else {
      #expect(before == 0 && snapshot?.sequence ?? 0 == 0, comment("no state"))
      return
    }
    #expect(sequence >= before, comment())
    if sequence != before {
      #expect(heads.contains { $0.state(ofDevice: device.number).sequence == sequence }, comment("state \(sequence)"))
    }
    let dump = try snapshot.canonicalDump
    #expect(dump == scene.states[sequence]?.dump, comment("state \(sequence)"))
  }

  // MARK: The end

  private func end() async throws {
    log.append("the end")
    publisherError = 0
    now.addTimeInterval(3 * 86_400)
    try await publish()
    let head = try scene.head
    for device in devices {
      for place in [device.origin] + device.mirrors {
        // Some mirrors never stop to lie.
        let isHonest = place === device.origin || rows.chance(50)
        place.set(scene.store.files, isHonest ? [] : [fault()], seed: rows.random.next())
      }
      device.clockError = 0
      let before = try device.sequence
      let report = try await device.sync(at: now, keepsObjects: false)
      let wanted = max(before, head.state(ofDevice: device.number).sequence)
      let after = try device.sequence
      #expect(report.sequence == wanted && after == wanted, comment("\(report.notes)"))
      if device.mirrors.allSatisfy(\.isHonest) { #expect(report.notes == [], comment()) }
      try check(device, before)
    }
  }
}
