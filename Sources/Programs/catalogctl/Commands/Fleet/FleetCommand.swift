import ArgumentParser
import Publisher

struct FleetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet", abstract: "Receive what devices say that they have, and show who needs somebody.",
    subcommands: [FleetCollect.self, FleetStatus.self])
}

/// A share of devices: `2%`, `0.5 %`, or the number alone.
struct PercentArgument: ExpressibleByArgument {
  let percent: Double

  init?(argument: String) {
    var text = argument[...]
    if text.last == "%" { text.removeLast() }
    while text.last == " " { text.removeLast() }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }),
      let percent = Double(text), (0...100).contains(percent)
    else { return nil }
    self.percent = percent
  }

  var halt: FleetHalt { FleetHalt(percent: percent) }
}
