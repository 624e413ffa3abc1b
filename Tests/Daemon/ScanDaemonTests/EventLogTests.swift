import DocumentFormat
import Foundation
import Synchronization
import Testing
import WaitingTestSupport

@testable import ScanDaemon

@Suite(.timeLimit(.minutes(10))) struct EventLogTests {
  private func text(_ event: DaemonEvent?) -> String? { event.map { String(decoding: $0.data, as: UTF8.self) } }

  private func publish(_ log: EventLog, _ numbers: ClosedRange<Int>) {
    for number in numbers { log.publish(.scan, Array(String(number).utf8)) }
  }

  /// What a stream gives until it ends.
  private func all(_ stream: AsyncStream<DaemonEvent>) async -> [String] {
    var texts: [String] = []
    for await event in stream { texts.append(event.kind == .gap ? "gap " + (text(event) ?? "") : text(event) ?? "") }
    return texts
  }

  @Test func `who begins gets what comes`() async throws {
    let log = EventLog(capacity: 10, run: 7)
    publish(log, 1...3)
    let stream = log.events(after: nil)
    publish(log, 4...5)
    log.finish()
    #expect(await all(stream) == ["4", "5"])
  }

  @Test func `who comes back gets what was missed, once and in order`() async throws {
    let log = EventLog(capacity: 10, run: 7)
    publish(log, 1...8)
    let id = try #require(EventID("0000000000000007-5"))
    let stream = log.events(after: id)
    publish(log, 9...9)
    log.finish()
    #expect(await all(stream) == ["6", "7", "8", "9"])
    #expect(await all(log.events(after: EventID(run: 7, number: 0))) == ["1", "2", "3", "4", "5", "6", "7", "8", "9"])
  }

  @Test func `a gap says how many are missing, and who comes back with its id misses no more`() async throws {
    let log = EventLog(capacity: 3, run: 7)
    publish(log, 1...10)
    var iterator = log.events(after: EventID(run: 7, number: 2)).makeAsyncIterator()
    let gap = try #require(await iterator.next())
    #expect(gap.kind == .gap && text(gap) == #"{"missed":5}"#)
    #expect(gap.id == EventID(run: 7, number: 7))
    log.finish()
    #expect(await all(log.events(after: gap.id)) == ["8", "9", "10"])
    #expect(text(await iterator.next()) == "8")
  }

  @Test func `an id of another run, or of the future, gives a gap of unknown length and all that is kept`() async {
    let log = EventLog(capacity: 3, run: 7)
    publish(log, 1...4)
    log.finish()
    for id in [EventID(run: 8, number: 2), EventID(run: 7, number: 5), EventID(run: 8, number: .max)] {
      #expect(await all(log.events(after: id)) == [#"gap {"missed":null}"#, "2", "3", "4"])
    }
    // An empty log has nothing but the gap.
    let empty = EventLog(capacity: 3, run: 7)
    empty.finish()
    #expect(await all(empty.events(after: EventID(run: 8, number: 2))) == [#"gap {"missed":null}"#])
    #expect(await all(empty.events(after: EventID(run: 7, number: 0))) == [])
  }

  @Test func `a listener that stops asking holds up nobody, and finds a gap`() async throws {
    let log = EventLog(capacity: 3, run: 7)
    var slow = log.events(after: nil).makeAsyncIterator()
    publish(log, 1...1)
    #expect(text(await slow.next()) == "1")
    publish(log, 2...100)
    #expect(text(await slow.next()) == #"{"missed":96}"#)
    #expect(text(await slow.next()) == "98")
  }

  @Test func `a listener that waits is woken, and one that is cancelled leaves nothing behind`() async throws {
    let log = EventLog(capacity: 10, run: 7)
    let waiting = Task { [log] in
      var iterator = log.events(after: nil).makeAsyncIterator()
      return await iterator.next()
    }
    let cancelled = Task { [log] in
      for await _ in log.events(after: nil) {}
    }
    try await eventually("both listen") { log.listenerCount == 2 }
    cancelled.cancel()
    await cancelled.value
    // Whether it listened before or after this is the scheduler's affair; one of several wakes it.
    while log.listenerCount > 0 {
      log.publish(.scan, [1])
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(await waiting.value?.data == [1])
    #expect(log.listenerCount == 0)
  }

  @Test func `many listeners and publishers see the same order`() async {
    let log = EventLog(capacity: 100_000, run: 7)
    let streams = (0..<8).map { _ in log.events(after: EventID(run: 7, number: 0)) }
    await withTaskGroup(of: [UInt64].self) { group in
      for stream in streams {
        group.addTask {
          var numbers: [UInt64] = []
          for await event in stream { numbers.append(event.id.number) }
          return numbers
        }
      }
      await withTaskGroup { publishers in
        for _ in 0..<4 { publishers.addTask { for _ in 0..<1000 { log.publish(.scan, [1]) } } }
      }
      log.finish()
      for await numbers in group { #expect(numbers == Array(1...4000)) }
    }
  }

  @Test func `bytes are bounded, but the last event is kept`() async {
    let log = EventLog(capacity: 1000, run: 7)
    let half = [UInt8](repeating: 32, count: EventLog.maximumByteCount / 2)
    for _ in 0..<5 { log.publish(.session, half) }
    log.publish(.session, half + half + half)
    log.finish()
    var sizes: [Int] = []
    for await event in log.events(after: EventID(run: 7, number: 0)) { sizes.append(event.data.count) }
    #expect(sizes == [12, half.count * 3], "a gap and the last one")
  }

  @Test func `ids are read as they are written, and nothing else is`() {
    for id in [EventID(run: 0, number: 0), EventID(run: .max, number: .max), EventID(run: 0xAB, number: 12)] {
      #expect(EventID(id.description) == id)
    }
    #expect(EventID(run: 0xAB, number: 12).description == "00000000000000ab-12")
    for text in [
      "", "-", "1", "1-", "-1", "g-1", "1-a", "1-2-3", "1--2", "11111111111111111-1", "1-18446744073709551616",
      "1-111111111111111111111", " 1-2", "+1-2", "1-٣",
    ] { #expect(EventID(text) == nil, "\(text)") }
  }
}
