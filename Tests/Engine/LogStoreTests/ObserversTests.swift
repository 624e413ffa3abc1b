import Testing

@testable import LogStore

@Suite(.timeLimit(.minutes(10))) struct ObserversTests {
  @Test func `an observer is polled at its own interval, whatever the others have`() async {
    let observers = Observers(interval: .seconds(86_400))
    var slow = observers.signals().makeAsyncIterator()
    #expect(await slow.next() != nil)
    var quick = observers.signals(every: .milliseconds(1)).makeAsyncIterator()
    for _ in 0..<50 { #expect(await quick.next() != nil) }
    // A signal for the slow one would have been kept until now, and would come before the end.
    observers.finish()
    #expect(await slow.next() == nil)
  }

  @Test func `a commit of this process is signalled to all, at once, and as one if nobody waited`() async {
    let observers = Observers(interval: .seconds(86_400))
    var first = observers.signals().makeAsyncIterator()
    var second = observers.signals(every: .seconds(3600)).makeAsyncIterator()
    for _ in 0..<3 { observers.notify() }
    #expect(await first.next() != nil)
    #expect(await second.next() != nil)
    observers.notify()
    #expect(await first.next() != nil)
    observers.finish()
    #expect(await first.next() == nil)
    // The second signal was kept: it waited for somebody to take it.
    #expect(await second.next() != nil)
    #expect(await second.next() == nil)
    var late = observers.signals().makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1), .seconds(Int64.max), .seconds(Int64.min)])
  func `an interval that makes no sense is replaced by the nearest one that does`(interval: Duration) async {
    let observers = Observers(interval: interval)
    var signals = observers.signals(every: interval).makeAsyncIterator()
    #expect(await signals.next() != nil)
    if interval < .seconds(1) { #expect(await signals.next() != nil) }
    var other = observers.signals().makeAsyncIterator()
    #expect(await other.next() != nil)
  }

  @Test func `one of two with the same interval may leave, and the other is still polled`() async {
    let observers = Observers(interval: .milliseconds(1))
    var stays = observers.signals().makeAsyncIterator()
    let leaves = Task { for await _ in observers.signals() {} }
    #expect(await stays.next() != nil)
    leaves.cancel()
    await leaves.value
    for _ in 0..<10 { #expect(await stays.next() != nil) }
  }
}
