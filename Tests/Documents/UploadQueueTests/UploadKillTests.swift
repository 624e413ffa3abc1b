import Documents
import Foundation
import LogStore
import ProcessTestSupport
import RandomTestSupport
import StoreTestSupport
import Testing
import UploadQueue

/// Processes that enqueue and processes that send, killed at any moment. The judge is what the receiver wrote down.
@Suite(.serialized) struct UploadKillTests {
  /// The results that a process got, and what the receiver saw, line by line.
  private struct Record {
    /// The order of what was accepted, by key: ids with their numbers.
    var accepted: [String: [(id: String, number: Int)]] = [:]
    /// Processes that send, and the line before which each was killed.
    var killed: [Int: Int] = [:]

    mutating func add(_ lines: [String]) {
      for line in lines where line != "open" {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 3, let number = Int(words[2]) else {
          Issue.record("\(line)")
          continue
        }
        accepted[words[1], default: []].append((words[0], number))
      }
    }
  }

  private static func received(_ path: String) throws -> [[String]] {
    guard let data = FileManager.default.contents(atPath: path + "/received") else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
  }

  @Test
  func
    `whoever is killed, what was accepted arrives, a committed success is not sent again, and each key keeps its order`()
    throws
  {
    var random = SeededGenerator(for: "UploadKillTests")
    let memory = "/dev/shm"
    let parent =
      FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
    let path = parent + "/shelfmark-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let location = try StoreLocation.creating(path, name: "s")
    var record = Record()
    var senders: [(number: Int, process: ActorProcess)] = []
    var last = 0
    let rounds = 12 * depth
    for round in 0..<rounds {
      // One of the two may have lived on, to take over what the other one had.
      while senders.count < 2 {
        last += 1
        senders.append((last, try ActorProcess("send", path, last, of: "queue-actor")))
      }
      last += 1
      let enqueuer = try ActorProcess("enqueue", path, last, of: "queue-actor")
      if round % 3 > 0 { #expect(enqueuer.line() == "open") }
      usleep(UInt32(Int.random(in: 0..<120_000, using: &random)))
      let enqueuerIsFirst = Bool.random(using: &random)
      if enqueuerIsFirst { enqueuer.kill() }
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        let index = Int.random(in: senders.indices, using: &random)
        let sender = senders.remove(at: index)
        record.killed[sender.number] = try Self.received(path).count
        sender.process.kill()
        #expect(sender.process.wait() == 128 + SIGKILL)
        usleep(UInt32(Int.random(in: 0..<10_000, using: &random)))
      }
      enqueuer.kill()
      record.add(enqueuer.lines())
      #expect(enqueuer.wait() == 128 + SIGKILL)
    }
    for sender in senders {
      record.killed[sender.number] = try Self.received(path).count
      sender.process.kill()
      #expect(sender.process.wait() == 128 + SIGKILL)
    }
    let end = try ActorProcess.play("send all", path, last + 1, of: "queue-actor")
    #expect(end.code == 0, "\(end.lines)")
    try judge(Self.received(path), record, location)
  }

  private func judge(_ received: [[String]], _ record: Record, _ location: StoreLocation) throws {
    var arrived: [String: Int] = [:]
    var done: Set<String> = []
    var order: [String: [Int]] = [:]
    var repeated = 0
    for (line, words) in received.enumerated() {
      let process = try #require(Int(words[1]))
      if words[0] == "done" {
        done.insert(words[2])
        continue
      }
      try #require(words.count == 6 && words[0] == "got", "\(words)")
      let id = words[2]
      #expect(!done.contains(id), "line \(line): \(words) after its success was committed")
      let isBatched = !words[3].hasSuffix("c")
      let former = arrived[id]
      if let former {
        // Only because the process that knew of the success was killed before it could write it, or because the answer
        // to a batch got lost.
        repeated += 1
        #expect(
          isBatched || record.killed[former].map { $0 <= line } == true, "line \(line): \(words), and \(former) lives")
      }
      if words[5] == "200" { arrived[id] = process }
      // A batch goes again as a whole: what it had before is no news.
      if former == nil || !isBatched { order[words[3], default: []].append(try #require(Int(words[4]))) }
    }
    let accepted = record.accepted.values.joined()
    for upload in accepted { #expect(arrived[upload.id] != nil, "\(upload) was accepted and never arrived") }
    for (key, numbers) in order { #expect(numbers == numbers.sorted(), "key \(key) was sent as \(numbers)") }
    for (key, uploads) in record.accepted { #expect(uploads.map(\.number) == Array(0..<uploads.count), "key \(key)") }
    // The receiver got what was accepted, and at most what a process was killed over while it got the result.
    let store = try DocumentStore.open(location)
    let counts = try UploadQueue(in: store).counts()
    #expect(counts.count == 0 && counts.delivered == arrived.count && counts.enqueued == arrived.count)
    #expect(arrived.count <= accepted.count + 3 * record.killed.count)
    // A scan is there when its upload is.
    let scans = try store.untypedCollection("scans").count()
    #expect(scans == order.filter { $0.key.hasSuffix("c") }.values.reduce(0) { $0 + Set($1).count })
    #expect(try store.snapshot().verify().isEmpty)
    print(
      "UploadKillTests: \(record.killed.count) senders killed, \(accepted.count) uploads accepted, "
        + "\(arrived.count) arrived in \(received.count { $0[0] == "got" }) requests, \(repeated) after a lost success")
    #expect(!accepted.isEmpty)
  }
}
