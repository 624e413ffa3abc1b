import Testing

@testable import CatalogOrigin

@Suite struct ReloadGateTests {
  @Test func `the served state is not read again`() {
    var gate = ReloadGate(served: 1)
    #expect([1, 1, 1].map { gate.isReady($0) } == [false, false, false])
  }

  @Test func `a state is read when it has been still for one look`() {
    var gate = ReloadGate(served: 1)
    #expect([2, 3, 3].map { gate.isReady($0) } == [false, false, true])
    gate.succeeded(with: 3)
    #expect([3, 1, 1].map { gate.isReady($0) } == [false, false, true])
  }

  @Test func `a state that could not be read is not tried again before it changes`() {
    var gate = ReloadGate(served: 1)
    #expect([2, 2].map { gate.isReady($0) } == [false, true])
    gate.failed(with: 2)
    #expect([2, 2, 3, 3].map { gate.isReady($0) } == [false, false, false, true])
  }

  @Test func `a change that is taken back is forgotten`() {
    var gate = ReloadGate(served: 1)
    #expect([2, 1, 2].map { gate.isReady($0) } == [false, false, false])
  }
}
