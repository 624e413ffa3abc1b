import Catalog
import Cryptography
import Foundation
import LogStore
import Platform
import PublicationFormat
import PublicationSync
import Publisher
import StoreTestSupport
import Synchronization
import Testing
import TextFormat

struct PublicationSyncTests {
  @Test func deviceFollowsAPublication() async throws {
    let scene = try await PublicationScene.publishing(3000)
    let device = try scene.device()
    #expect(try await device.run().mode == .base)
    #expect(try device.digest() == scene.digest())
    // Head, signature, keys, their signature, base.
    #expect(scene.place.takeRequests().count == 5)
    try scene.change([(1, "other"), (2, nil), (5000, "new")])
    try await scene.publish()
    #expect(try await device.run().mode == .delta)
    #expect(try device.digest() == scene.digest())
    #expect(scene.place.takeRequests().count == 3)
    let third = try await device.run()
    #expect(third.mode == .unchanged)
    #expect(third.update == nil)
    #expect(scene.place.takeRequests() == ["catalogue.json"])
  }

  @Test func deviceThatMissedManyStatesTakesFewFiles() async throws {
    let scene = try await PublicationScene.publishing(3000)
    let device = try scene.device()
    try await device.run()
    for number in 1...37 {
      try scene.change([(number, "changed \(number)"), (7000 + number, "new")])
      try await scene.publish()
    }
    _ = scene.place.takeRequests()
    #expect(try await device.run().sequence == 38)
    #expect(try device.digest() == scene.digest())
    // About log₂ 37 deltas after the head and its signature, or a base.
    #expect(scene.place.takeRequests().count <= 2 + 7)
  }

  @Test func headThatWasChangedIsRefused() async throws {
    let scene = try await PublicationScene.publishing(300)
    let device = try scene.device()
    try await device.run()
    let before = try device.digest()
    try scene.change([(1, "other")])
    try await scene.publish()
    let changes: [TestPlace.Tampering] = [
      { name, bytes in name == "catalogue.json" ? bytes + [0x20] : bytes },
      { name, bytes in
        let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\"poll\":300", with: "\"poll\":30")
        return name == "catalogue.json" ? Array(text.utf8) : bytes
      },
      { name, bytes in name == "catalogue.json.sig" ? Array("<html>not found</html>".utf8) : bytes },
      { name, bytes in name == "catalogue.json" ? Array("<html>sign in to the network</html>".utf8) : bytes },
    ]
    for change in changes {
      scene.place.tamper(change)
      await #expect(throws: PublicationFailure.self) { try await device.run() }
      #expect(try device.digest() == before)
    }
    scene.place.tamper(nil)
    #expect(try await device.run().mode == .delta)
  }

  @Test func olderHeadIsRefused() async throws {
    let scene = try await PublicationScene.publishing(300)
    let device = try scene.device()
    let old = scene.place.files
    try scene.change([(1, "other")])
    try await scene.publish()
    try await device.run()
    scene.place.set(old)
    let failure = await #expect(throws: PublicationFailure.self) { try await device.run() }
    #expect("\(try #require(failure))".contains("has the state 1, and this device has 2"))
    #expect(try device.digest() == scene.digest())
  }

  @Test func headOfAnotherCatalogueIsTakenOnlyWhenAskedFor() async throws {
    let scene = try await PublicationScene.publishing(300)
    var device = try scene.device()
    try await device.run()
    let other = try PublicationScene()
    try other.change([(1, "one")])
    try await other.publish(scene.key)
    scene.place.set(other.place.files)
    await #expect(throws: PublicationFailure.self) { try await device.run() }
    #expect(try device.digest() == scene.digest())
    device.sync.isFull = true
    device.sync.lossLimit = .open
    #expect(try await device.run().mode == .base)
    #expect(try device.digest() == other.digest())
  }

  @Test func anotherRootKeyIsRefused() async throws {
    let scene = try await PublicationScene.publishing(300)
    let device = try scene.device(rootKey: SignifySecretKey.new("other").publicKey)
    await #expect(throws: PublicationFailure.self) { try await device.run() }
    #expect(try device.snapshot().sequence == 0)
  }

  @Test(arguments: ["missing", "cut", "flipped", "page", "another"], [false, true])
  func damagedDeltaIsReplaced(_ kind: String, _ hasBase: Bool) async throws {
    let scene = try await PublicationScene.publishing(1000)
    var device = try scene.device()
    let isWarned = Mutex(false)
    device.sync.willFetchBase = { _, deltasFailed in if deltasFailed { isWarned.withLock { $0 = true } } }
    for number in 2...3 {
      try scene.change([(number, "\(number)")])
      try await scene.publish()
    }
    try await device.run()
    let known = scene.place.files.filter { $0.key.hasSuffix(".delta") }
    // The fourth state has deltas from the second and the third one, or if much has changed a base.
    try scene.change((0..<(hasBase ? 350 : 5)).map { ($0, PublicationScene.name(5000 + $0)) })
    let report = try await scene.publish()
    #expect((report.baseByteCount != nil) == hasBase)
    let shortest = try #require(report.deltas.first { $0.from == 3 })
    let damaged = hasBase ? report.deltas.map(\.name) : [shortest.name]
    scene.place.tamper { name, bytes in
      guard damaged.contains(name) else { return bytes }
      return switch kind {
      case "missing": nil
      case "cut": Array(bytes.dropLast(3))
      case "flipped": bytes.dropLast() + [bytes[bytes.count - 1] ^ 1]
      case "page": Array("<html>".utf8)
      default: known.values.first
      }
    }
    #expect(try await device.run().sequence == 4)
    #expect(try device.digest() == scene.digest())
    // A fleet spreads the fetching of a base over some time.
    #expect(isWarned.withLock { $0 } == hasBase)
  }

  @Test func damagedGroupIsFetchedAgainAlone() async throws {
    let scene = try await PublicationScene.publishing(10_000)
    let device = try scene.device()
    let isDamaged = Atomic(true)
    scene.place.tamper { name, bytes in
      guard name.hasSuffix(".base"), isDamaged.exchange(false, ordering: .relaxed) else { return bytes }
      var bytes = bytes
      bytes[bytes.count - 100] ^= 1
      return bytes
    }
    let report = try await device.run()
    #expect(report.mode == .base)
    let wasAsked = !isDamaged.load(ordering: .relaxed)
    #expect(wasAsked)
    #expect(try device.digest() == scene.digest())
    let size = try #require(scene.place.files.first { $0.key.hasSuffix(".base") }).value.count
    #expect(report.bytesIn < size + size / 4)
  }

  @Test func interruptedBaseGoesOnWhereItStopped() async throws {
    let scene = try await PublicationScene.publishing(10_000)
    let device = try scene.device()
    let size = try #require(scene.place.files.first { $0.key.hasSuffix(".base") }).value.count
    scene.place.tamper { name, bytes in name.hasSuffix(".base") ? Array(bytes.prefix(size * 2 / 3)) : bytes }
    await #expect(throws: PublicationFailure.self) { try await device.run() }
    #expect(try device.snapshot().sequence == 0)
    scene.place.tamper(nil)
    let report = try await device.run()
    #expect(report.mode == .base)
    #expect(report.bytesIn < size * 6 / 10)
    #expect(try device.digest() == scene.digest())
  }

  @Test func signatureThatIsNewerThanTheHeadHasTheHead() async throws {
    let scene = try await PublicationScene.publishing(300)
    let device = try scene.device()
    let old = scene.place.files["catalogue.json"]
    try scene.change([(1, "other")])
    try await scene.publish()
    // As if the publisher was killed between the two writes.
    scene.place.tamper { name, bytes in name == "catalogue.json" ? old : bytes }
    #expect(try await device.run().sequence == 2)
    #expect(try device.digest() == scene.digest())
  }

  @Test func rowsThatSomebodyElseChangedAreReplaced() async throws {
    let scene = try await PublicationScene.publishing(300)
    let device = try scene.device()
    try await device.run()
    let writer = try CatalogWriter(device.location)
    var increment = writer.beginIncrement()
    try increment.product(PublicationScene.row((1, "mine")))
    _ = try increment.commit(cursor: "mine")
    writer.close()
    #expect(try device.digest() != scene.digest())
    #expect(try await device.run().mode == .base)
    #expect(try device.digest() == scene.digest())
  }

  @Test func mirrorsThatLieChangeNothing() async throws {
    let scene = try await PublicationScene.publishing(300)
    let old = scene.place.files
    try scene.change([(1, "other")])
    try await scene.publish()
    let lies: [(TestPlace) -> Void] = [
      { $0.set([:]) }, { $0.set(old) }, { $0.tamper { _, _ in Array("<html>".utf8) } },
      { $0.tamper { name, bytes in name.hasPrefix("objects/") ? bytes.map { $0 ^ 1 } : bytes } },
      { $0.tamper { name, bytes in name.hasPrefix("objects/") ? nil : bytes } },
      { $0.tamper { name, bytes in name.hasPrefix("objects/") ? Array(bytes.dropLast()) : bytes } },
      { $0.tamper { name, bytes in name == "keys.json" ? Array(bytes.dropLast(9)) : bytes } },
      { $0.tamper { name, bytes in name == "catalogue.json" ? bytes.reversed() : bytes } },
      { $0.tamper { name, _ in throw PublicationFailure.unavailable("\(name): no answer") } },
    ]
    for (number, lie) in lies.enumerated() {
      let mirror = TestPlace("http://mirror.test")
      mirror.set(scene.place.files)
      lie(mirror)
      let device = try scene.device("device-\(number)", mirrors: [mirror])
      #expect(try await device.run().sequence == 2, "lie \(number)")
      #expect(try device.digest() == scene.digest(), "lie \(number)")
    }
  }

  @Test func mirrorSparesTheOrigin() async throws {
    let scene = try await PublicationScene.publishing(300)
    let mirror = TestPlace("http://mirror.test")
    mirror.set(scene.place.files)
    let device = try scene.device(mirrors: [mirror])
    #expect(try await device.run().mode == .base)
    // The origin is asked whether there is something newer.
    #expect(scene.place.takeRequests() == ["catalogue.json"])
    // Neither sends its head again.
    var report = try await device.run()
    #expect(report.mode == .unchanged && report.requests == 2 && report.bytesIn == 0)
    var other = try scene.device("other", mirrors: [mirror])
    #expect(try await other.run().sequence == 1)
    // A mirror that lags is asked again, and does not make the origin send its head once more.
    try scene.change([(1, "other")])
    try await scene.publish()
    #expect(try await device.run().sequence == 2)
    report = try await device.run()
    // If the mirror's answer is enough, the origin is left alone; if it is none, it is not.
    other.sync.client.asksOriginToo = false
    _ = scene.place.takeRequests()
    #expect(try await other.run().sequence == 1)
    #expect(scene.place.takeRequests().isEmpty)
    var third = try scene.device("third", mirrors: [TestPlace("http://empty.test")])
    third.sync.client.asksOriginToo = false
    #expect(try await third.run().sequence == 2)
    let stale = mirror.files.filter { $0.key.hasPrefix("catalogue.json") }
    #expect(report.mode == .unchanged && report.bytesIn == stale.values.reduce(0) { $0 + $1.count })
  }

  @Test func mirrorDoesNotChooseTheCatalogueOfANewDevice() async throws {
    let scene = try await PublicationScene.publishing(300)
    let other = try await PublicationScene.publishing(10, key: scene.key)
    let mirror = TestPlace("http://mirror.test")
    mirror.set(other.place.files)
    var device = try scene.device(mirrors: [mirror])
    device.sync.client.asksOriginToo = false
    #expect(try await device.run().sequence == 1)
    #expect(try device.digest() == scene.digest())
  }

  @Test func mirrorThatIsOffIsAskedOnce() async throws {
    let scene = try await PublicationScene.publishing(3000)
    let mirror = TestPlace("http://mirror.test")
    mirror.set(["catalogue.json": [1]])
    mirror.tamper { name, _ in throw PublicationFailure.unavailable("\(name): no answer") }
    let device = try scene.device(mirrors: [mirror])
    #expect(try await device.run().sequence == 1)
    #expect(mirror.takeRequests() == ["catalogue.json"])
  }

  @Test func probeThatFailsKeepsTheOldState() async throws {
    let scene = try await PublicationScene.publishing(300)
    var device = try scene.device()
    try await device.run()
    let before = try device.digest()
    try scene.change([(1, nil)])
    try await scene.publish {
      $0.probe = PublicationProbe(found: [PublicationScene.code(1)], missing: [], products: nil)
    }
    device.sync.checkProbe = { probe, snapshot in
      for code in probe.found where try snapshot.product(barcode: code) == nil {
        throw PublicationFailure.probeFailed(code)
      }
    }
    let failure = PublicationFailure.probeFailed(PublicationScene.code(1))
    let old = device
    await #expect(throws: failure) { try await old.run() }
    #expect(try device.digest() == before)
    var fresh = try scene.device("fresh")
    fresh.sync.checkProbe = device.sync.checkProbe
    let new = fresh
    await #expect(throws: failure) { try await new.run() }
    #expect(try fresh.snapshot().sequence == 0)
    // The next publication has no probe any more.
    try scene.change([(2, "other")])
    try await scene.publish()
    #expect(try await device.run().sequence == 3)
  }

  @Test func sealedCatalogueTriesAProbe() async throws {
    let scene = try await PublicationScene.publishing(300)
    var device = try scene.device()
    device.location = device.location.opening(with: testKey, sealsNew: true)
    try await device.run()
    try scene.change([(1, "other")])
    try await scene.publish {
      $0.probe = PublicationProbe(found: [PublicationScene.code(2)], missing: [], products: nil)
    }
    // The names of the files that are there while the probe is tried, and whether the stores among them are sealed.
    let seen = Mutex<[String: Bool]>([:])
    let location = device.location
    device.sync.checkProbe = { probe, snapshot in
      let directory = location.directory
      for name in try directory.names() where name.hasSuffix(".log") {
        seen.withLock { $0[name] = (try? location.sibling(String(name.dropLast(4))).isSealed()) == true }
      }
      for code in probe.found where try snapshot.product(barcode: code) == nil {
        throw PublicationFailure.probeFailed(code)
      }
    }
    #expect(try await device.run().sequence == 2)
    #expect(seen.withLock { $0 } == ["catalogue.log": true, "publication-probe.log": true])
    #expect(try location.directory.names().filter { $0.hasPrefix("publication-probe") }.isEmpty)
  }

  @Test func ringsHaveTheirStates() async throws {
    let scene = try await PublicationScene.publishing(300)
    let old = try scene.digest()
    try scene.change([(1, "other")])
    try await scene.publish { $0.rings = [.init(percent: 25, sequence: 2), .init(percent: 100, sequence: 1)] }
    let first = try scene.device("first", number: 24.9)
    let last = try scene.device("last", number: 25)
    #expect(try await first.run().sequence == 2)
    #expect(try await last.run().sequence == 1)
    #expect(try last.digest() == old)
    // Rings stay until they are changed.
    try scene.change([(3, "third")])
    try await scene.publish()
    #expect(try await first.run().sequence == 2)
    try await scene.publish { $0.rings = [.init(percent: 100, sequence: 3)] }
    for device in [first, last] {
      #expect(try await device.run().sequence == 3)
      #expect(try device.digest() == scene.digest())
    }
  }

  @Test func keysAreRotated() async throws {
    let scene = try await PublicationScene.publishing(300)
    let device = try scene.device()
    try await device.run()
    let keys = PublicationKeys(scene.place)
    let (second, third) = (try SignifySecretKey.new("second"), try SignifySecretKey.new("third"))
    let old = scene.place.files
    _ = try await keys.rotate(root: scene.key, adding: second.publicKey, retiring: ["\(scene.key.number)"], now: Date())
    try scene.change([(1, "second")])
    try await scene.publish(second)
    _ = try await keys.rotate(root: scene.key, adding: third.publicKey, retiring: ["\(second.number)"], now: Date())
    try scene.change([(1, "third")])
    try await scene.publish(third)
    // The device was off meanwhile, and knows only the first key.
    #expect(try await device.run().sequence == 3)
    #expect(try device.digest() == scene.digest())
    // A key that was withdrawn signs no longer, and its list of keys is refused although the root key has signed it.
    try scene.change([(1, "fourth")])
    await #expect(throws: PublisherError.self) { try await scene.publish(second) }
    try await scene.publish(third)
    let forged = try SignifySecretKey.new("unknown")
    let head = try #require(scene.place.files["catalogue.json"])
    let signature = try forged.sign(head).embedding(head)
    scene.place.tamper { name, bytes in
      name == "catalogue.json.sig" ? signature : name.hasPrefix("keys.json") ? old[name] : bytes
    }
    let failure = await #expect(throws: PublicationFailure.self) { try await device.run() }
    #expect("\(try #require(failure))".contains("has version 1, and 3 was trusted already"))
  }

  @Test func headIsSignedAgainByANewKeyAlthoughNoRowHasChanged() async throws {
    let scene = try await PublicationScene.publishing(300)
    let device = try scene.device()
    try await device.run()
    let second = try SignifySecretKey.new("second")
    _ = try await PublicationKeys(scene.place).rotate(
      root: scene.key, adding: second.publicKey, retiring: ["\(scene.key.number)"], now: Date())
    // The head is signed by a key that was withdrawn: a new device refuses it until the publisher has run.
    await #expect(throws: PublicationFailure.self) { try await scene.device("early").run() }
    #expect(try await scene.publish(second).isPublished)
    #expect(try await scene.publish(second).isPublished == false)
    #expect(try await scene.device("new").run().sequence == 1)
    #expect(try await device.run().mode == .unchanged)
  }

  /// The list is the former one, and its signature is of the next one, with the list in it.
  @Test func rotationThatWasInterruptedIsCompleted() async throws {
    let scene = try await PublicationScene.publishing(300)
    let device = try scene.device()
    try await device.run()
    let keys = PublicationKeys(scene.place)
    let old = scene.place.files[KeyList.name]
    let second = try SignifySecretKey.new("second")
    func rotate(_ new: SignifySecretKey) async throws -> KeyList {
      try await keys.rotate(root: scene.key, adding: new.publicKey, retiring: [], now: Date())
    }
    _ = try await rotate(second)
    try scene.change([(1, "second")])
    try await scene.publish(second)
    var files = scene.place.files
    files[KeyList.name] = old
    scene.place.set(files)
    #expect(try await device.run().sequence == 2)
    #expect(try await scene.device("new").run().sequence == 2)
    // The next publication writes the list that was signed, and a rotation goes on from it.
    try scene.change([(2, "third")])
    try await scene.publish(second)
    #expect(try await keys.list().version == 2)
    scene.place.set(scene.place.files.merging([KeyList.name: try #require(old)]) { $1 })
    let list = try await rotate(SignifySecretKey.new("third"))
    #expect(list.version == 3 && list.keys.count == 3)
    // The same once more takes off a key that is off already.
    let withdrawn = "\(second.number)"
    let before = scene.place.files[KeyList.name]
    _ = try await keys.rotate(root: scene.key, adding: nil, retiring: [withdrawn], now: Date())
    scene.place.set(scene.place.files.merging([KeyList.name: try #require(before)]) { $1 })
    let again = try await keys.rotate(root: scene.key, adding: nil, retiring: [withdrawn], now: Date())
    #expect(again.version == 5 && again.keys.count == 2)
  }

  @Test func mirrorIsNotAskedForTheFirstRootKey() async throws {
    let scene = try await PublicationScene.publishing(300)
    let forger = try PublicationScene()
    try forger.change([(1, "forged")])
    try await forger.publish()
    try forger.change([(2, "forged")])
    try await forger.publish()
    let location = try scene.location("trusting")
    let client = PublicationClient(
      origin: scene.place, mirrors: [forger.place], cache: PublicationCache(of: location), rootKey: nil,
      deviceNumber: 50)
    let device = TestDevice(location: location, sync: PublicationSync(client))
    let report = try await device.run()
    #expect(report.sequence == 1 && report.trustedFirstKey == "\(scene.key.number)")
    #expect(try device.digest() == scene.digest())
    // From then on a mirror is asked, and refused.
    #expect(try await device.run().notes.count == 1)
  }

  @Test func expiredHeadIsTakenAndRenewed() async throws {
    let scene = try PublicationScene()
    try scene.change([(1, "one")])
    try await scene.publish { options in
      options.now = { Date(timeIntervalSince1970: 1_700_000_000) }
      options.lifetime = 86_400
    }
    let report = try await scene.device().run()
    #expect(report.isExpired(at: Date()))
    #expect(!report.isExpired(at: Date(timeIntervalSince1970: 1_700_080_000)))
    #expect(try await scene.publish().isPublished)
    #expect(try await scene.publish().isPublished == false)
    let renewed = try await scene.device().run()
    #expect(renewed.mode == .unchanged)
    #expect(!renewed.isExpired(at: Date()))
  }

  @Test func stateWithATimeIsFetchedAheadAndCountsThenAlsoOffline() async throws {
    let scene = try await PublicationScene.publishing(300)
    var device = try scene.device()
    try await device.run()
    let before = try device.digest()
    let now = Date()
    try scene.change([(1, "tomorrow")])
    try await scene.publish { $0.activation = "2100-01-01T00:00:00Z" }
    let report = try await device.run()
    #expect(report.waitsFor == "2100-01-01T00:00:00Z" && report.mode == .unchanged)
    #expect(try device.digest() == before)
    // A clock that is before the head was published, or after it expires, is wrong.
    for wrong in [now - 86_400, now + 365 * 100 * 86_400] {
      device.sync.now = { wrong }
      let report = try await device.run()
      #expect(report.waitsFor != nil && report.notes.contains { $0.contains("set the clock") })
      #expect(try device.digest() == before)
    }
    // The line is cut before the time comes.
    scene.place.tamper { name, _ in throw PublicationFailure.unavailable("\(name): no answer") }
    device.sync.now = { Date(timeIntervalSince1970: 4_102_444_799) }
    #expect(try await device.run().waitsFor != nil)
    device.sync.now = { Date(timeIntervalSince1970: 4_102_444_800) }
    #expect(try await device.run().mode == .delta)
    #expect(try device.digest() == scene.digest())
  }

  @Test func timeWithoutAZoneIsLocal() async throws {
    let scene = try await PublicationScene.publishing(30)
    var device = try scene.device()
    try await device.run()
    try scene.change([(1, "other")])
    let now = Date()
    let published = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
    let ahead = LocalTime.secondsAheadOfUTC(at: Int64(published.timeIntervalSince1970))
    let local = CivilTime(milliseconds: Int64(published.timeIntervalSince1970 + 600 + Double(ahead)) * 1000).secondsText
    try await scene.publish { $0.activation = String(local.dropLast()) }
    device.sync.now = { published + 599 }
    #expect(try await device.run().waitsFor != nil)
    device.sync.now = { published + 600 }
    #expect(try await device.run().mode == .delta)
  }
}
