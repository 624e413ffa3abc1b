// The example of Sources/Daemon/ScanInputs/ScanInputs.docc/ScanInputs.md
import Logging
import ScanInputs
import ServiceLifecycle
import Synchronization

/// Answers each code with the number of times that it was read.
final class Tally: ReadingHandler {
  private let counts = Mutex<[String: Int]>([:])

  func answer(_ reading: Reading) async -> ReadingAnswer {
    let count = counts.withLock { counts in
      counts[reading.code, default: 0] += 1
      return counts[reading.code] ?? 0
    }
    return ReadingAnswer(line: Array("{\"count\":\(count)}".utf8))
  }

  func note(_ event: InputEvent, input: String) { print("\(input): \(event)") }
}

/// Reads a scanner on a serial device, and programs that write to a socket, until the process gets a SIGTERM.
func tally(device: String, socket: String) async throws {
  let (tally, logger) = (Tally(), Logger(label: "tally"))
  var serial = SerialOptions(path: device)
  serial.baud = 115_200
  let inputs = [
    InputOptions(name: "counter-1", source: .serial(serial)),
    InputOptions(name: "programs", source: .socket(path: socket)),
  ]
  let services = inputs.map { ScanInput($0, handler: tally, logger: logger) }
  try await ServiceGroup(services: services, gracefulShutdownSignals: [.sigterm], logger: logger).run()
}
