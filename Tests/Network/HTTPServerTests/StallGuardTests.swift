import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

@Suite struct StallGuardTests {
  /// A connection with so much to take, of which its peer has taken nothing.
  private func connection(waiting count: Int) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(handler: StallGuard(timeout: .seconds(30)))
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
    wait(channel, count)
    become(channel, writable: false)
    return channel
  }

  private func wait(_ channel: EmbeddedChannel, _ count: Int) {
    channel.write(ByteBuffer(repeating: 0, count: count), promise: nil)
  }

  /// The peer takes all but so much.
  private func take(_ channel: EmbeddedChannel, leaving count: Int) {
    channel.flush()
    wait(channel, count)
  }

  private func become(_ channel: EmbeddedChannel, writable: Bool) {
    channel.isWritable = writable
    channel.pipeline.fireChannelWritabilityChanged()
  }

  @Test func `who takes nothing is cut off when the time is over, and not before`() throws {
    let channel = try connection(waiting: 1 << 20)
    channel.embeddedEventLoop.advanceTime(by: .seconds(29))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test func `who takes enough each time gets a large answer, however long it takes`() throws {
    let channel = try connection(waiting: 100 << 16)
    for left in stride(from: 99, through: 1, by: -1) {
      take(channel, leaving: left << 16)
      channel.embeddedEventLoop.advanceTime(by: .seconds(30))
      #expect(channel.isActive, "\(left) are left")
    }
    take(channel, leaving: 1)
    channel.embeddedEventLoop.advanceTime(by: .seconds(30))
    #expect(!channel.isActive, "a byte less than enough")
  }

  @Test func `who took all is not looked at any more`() throws {
    let channel = try connection(waiting: 1 << 20)
    take(channel, leaving: 0)
    become(channel, writable: true)
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive)
    // The time begins anew.
    wait(channel, 1 << 20)
    become(channel, writable: false)
    channel.embeddedEventLoop.advanceTime(by: .seconds(29))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }
}
