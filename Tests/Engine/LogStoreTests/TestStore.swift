import LogStore
import StoreTestSupport

/// A store on a simulated device, and what opens it.
struct TestStore {
  var device = SimulatedDevice()
  var environment = FixedEnvironment().environment()

  init(flushLimit: Int? = nil) { environment = FixedEnvironment().environment(flushLimit: flushLimit) }

  init(_ device: SimulatedDevice, flushLimit: Int? = nil, seed: UInt64 = 2) {
    self.device = device
    environment = FixedEnvironment(seed: seed).environment(flushLimit: flushLimit)
  }

  var location: StoreLocation { StoreLocation.test(device.directory, name: "s", environment: environment) }

  func writer(_ schema: Schema = TestSchema.schema) throws(StoreError) -> StoreWriter {
    try StoreWriter(location, schema: schema)
  }

  func reader() throws(StoreError) -> StoreReader? { try StoreReader.open(location) }

  /// The log as programs see it.
  var log: [UInt8] { device.contents("s.log") ?? [] }

  /// The same store with other bytes in its log.
  func with(log: [UInt8]) -> TestStore {
    let device = SimulatedDevice()
    device.place(log, as: "s.log")
    return TestStore(device)
  }
}
