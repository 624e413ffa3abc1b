import ArgumentParser
import Essentials
import JSONFormat
import PublicationFormat
import Publisher

struct PublishRing: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ring", abstract: "Give a share of the devices one state, and the others another.",
    discussion: """
      'publish ring 25 7 100 6' gives the first 25 % of the devices the state 7, and all others the state 6. Which ring a \
      device is in depends on its id alone. Later publications keep the rings until they are changed; 'publish ring 100 \
      SEQUENCE' gives all devices one state. Of the states before the newest one the last 32 can be given, unless their files were removed.

      With --fleet DIR and --halt PERCENT, a state that devices have goes to more of them only if at most PERCENT of those \
      that were given it report a problem, by what 'fleet collect' keeps in DIR, and at least one has reported it. Else \
      nothing is changed, and the exit code is 1. A state that no device has yet, and the way back to an older one, are \
      never withheld.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var target: PublicationTarget
  @Argument(help: "PERCENT SEQUENCE, once or several times; the percent grow.") var rings: [Double]

  @Option(
    help: ArgumentHelp("Where 'fleet collect' keeps the reports of the devices.", valueName: "dir"),
    completion: .directory)
  var fleet: String?
  @Option(
    help: ArgumentHelp("With --fleet: the share of devices that may have a problem, such as 2%.", valueName: "percent"))
  var halt: PercentArgument?

  func validate() throws {
    if (fleet == nil) != (halt == nil) { throw ValidationError("--fleet DIR and --halt PERCENT belong together") }
    if fleet?.isEmpty == true { throw ValidationError("--fleet names no directory") }
    guard rings.count >= 2, rings.count.isMultiple(of: 2) else {
      throw ValidationError("give PERCENT SEQUENCE, once or several times")
    }
    guard rings.count / 2 <= PublicationHead.ringLimit else {
      throw ValidationError("a publication has at most \(PublicationHead.ringLimit) rings")
    }
    var last = 0.0
    for index in stride(from: 0, to: rings.count, by: 2) {
      guard rings[index] > last, rings[index] <= 100 else {
        throw ValidationError("percent are more than 0, at most 100, and grow from ring to ring")
      }
      last = rings[index]
      guard rings[index + 1] >= 1, rings[index + 1] == rings[index + 1].rounded(), rings[index + 1] < 1e15 else {
        throw ValidationError("a sequence is a whole number from 1")
      }
    }
    guard last == 100 else {
      throw ValidationError("the last ring ends at 100 percent, so that every device is in one")
    }
  }

  func run() async throws {
    let workspace = store.workspace
    var options = PublisherOptions(
      key: try await target.signingKey(workspace), publisher: PublishRun.publisherName())
    options.rings = stride(from: 0, to: rings.count, by: 2).map {
      PublicationHead.Ring(percent: rings[$0], sequence: UInt64(rings[$0 + 1]))
    }
    if let fleet, let halt = halt?.halt {
      let reports = try FleetStore.reading(fleet)
      options.checkRings = { former, head in
        let found = try halt.check(reports.snapshot(), from: former, to: head, now: Date())
        for line in found { Console.say("catalogctl: \(line)") }
      }
    }
    let report = try await Publisher(
      target.location(workspace), to: target.checkedObjects(workspace), options
    ).setRings()
    if output.json { return report.json().print() }
    Console.print(
      (report.isPublished ? "the rings are published: " : "the rings are as they were: ")
        + Self.words(options.rings ?? []))
  }

  /// Rings for people: `up to 25 % the state 7, up to 100 % the state 6`.
  private static func words(_ rings: [PublicationHead.Ring]) -> String {
    rings.map { "up to \(PublicationHead.Ring.text(ofPercent: $0.percent)) % the state \($0.sequence)" }
      .joined(separator: ", ")
  }
}
