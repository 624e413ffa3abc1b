import Catalog
import CatalogSync
import Foundation
import Synchronization
import Workspace

@testable import ScanDaemon

/// A server of the catalogue, in memory.
final class CatalogueServer: CatalogTransport, Sendable {
  private struct State {
    var products: [(id: Int, changed: Int)] = []
    var clock = 1
    var cursors: [String] = []
    var isDown = false
    var error: CatalogError?
    var gate: (@Sendable () async -> Void)?
  }

  private let state = Mutex(State())

  /// The cursors that were asked with.
  var cursors: [String] { state.withLock { $0.cursors } }
  var isDown: Bool {
    get { state.withLock { $0.isDown } }
    set { state.withLock { $0.isDown = newValue } }
  }

  /// What a synchronisation throws instead of asking.
  var error: CatalogError? {
    get { state.withLock { $0.error } }
    set { state.withLock { $0.error = newValue } }
  }

  /// What each answer waits for.
  func hold(_ gate: (@Sendable () async -> Void)?) { state.withLock { $0.gate = gate } }

  /// Changes products, and adds those that are new.
  func change(_ ids: Range<Int>) {
    state.withLock { state in
      state.clock += 1
      state.products.removeAll { ids.contains($0.id) }
      state.products += ids.map { ($0, state.clock) }
    }
  }

  func fetchAnswer<Answer: ~Copyable>(
    cursor: String, into makeState: () throws -> Answer, onChunk: (inout Answer, Span<UInt8>) throws -> Void
  ) async throws -> Answer {
    let (body, gate) = try state.withLock { state in
      state.cursors.append(cursor)
      if state.isDown { throw Unreachable() }
      let since = Int(cursor) ?? 0
      let rows = state.products.filter { $0.changed > since }.map {
        #"{"id":"\#($0.id)","barcode":"690\#($0.id)","name":"\#($0.id) as of \#($0.changed)"}"#
      }
      let text =
        #"{"appProductVOList":[\#(rows.joined(separator: ","))],"appProductRelVOList":[],"updateTime":"\#(state.clock)"}"#
      return (Array(text.utf8), state.gate)
    }
    var answer = try makeState()
    await gate?()
    try onChunk(&answer, body.span)
    return answer
  }

  /// Lets a daemon synchronise here.
  func serve(_ environment: inout DaemonEnvironment) {
    environment.synchronize = { [self] stores, extent in
      if let error { throw error }
      var synchronizer = Synchronizer(self)
      synchronizer.options.allowsBarePayload = true
      return try await stores.synchronize(
        synchronizer, from: nil, full: extent != .increment, replacesDamaged: extent == .replacement)
    }
  }
}
