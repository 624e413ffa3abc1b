import Catalog
import CatalogRows
import CatalogTestSupport
import Essentials
import PublicationFormat
import Testing

@testable import Publisher

/// Who is behind, and whether a state may go to more devices.
@Suite struct FleetHaltTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func survey(_ reports: [FleetReport]) -> FleetSurvey { FleetSurvey(reports, now: Self.now) }

  @Test func `a device is silent, has a problem, is behind or is current`() throws {
    let old = Self.now.addingTimeInterval(-2 * 86_400 - 1)
    let reports = [
      try FleetReport("current", 7, ring: 10, target: 7),
      try FleetReport("behind_its_target", 6, ring: 10, target: 7),
      try FleetReport("behind_its_ring", 6, ring: 10, target: 6),
      try FleetReport("of_another_ring", 6, ring: 100, target: 6),
      try FleetReport("ahead_of_its_ring", 7, ring: 100, target: 6),
      try FleetReport("of_another_catalogue", 1, catalogue: "x", ring: 10, target: 1),
      try FleetReport("failing", 6, problem: "publication_refused: probe", ring: 10, target: 7),
      try FleetReport("silent", 7, problem: "sync_failing: x", ring: 10, target: 7, received: old),
      try FleetReport(
        "just_in_time", 7, ring: 10, target: 7, received: Self.now.addingTimeInterval(-2 * 86_400)),
    ]
    let survey = survey(reports)
    #expect(
      reports.map { survey.condition(of: $0).rawValue } == [
        "current", "behind", "behind", "current", "current", "current", "problem", "silent", "current",
      ])
    #expect(survey.target(of: reports[2]) == 7 && survey.target(of: reports[3]) == 6)
    #expect(survey.newest == [nil: 7, "x": 1])
  }

  @Test func `a device that could not take a state counts as one that was given it`() throws {
    let survey = survey([
      try FleetReport("a", 7, catalogue: "c", target: 7),
      try FleetReport("b", 6, problem: "publication_refused: probe", catalogue: "c", target: 7),
      // It has not asked yet.
      try FleetReport("c", 6, catalogue: "c", target: 6),
      // It has not come to it yet.
      try FleetReport("d", 6, catalogue: "c", target: 7),
      try FleetReport("e", 7, problem: "sync_failing: x", catalogue: "other", target: 7),
      try FleetReport("f", 7),
    ])
    #expect(survey.trial(of: 7, in: "c") == FleetSurvey.Trial(devices: 2, problems: 1, silent: 0))
    #expect(
      survey.trial(of: 7, in: "c", includesUnnamed: true) == FleetSurvey.Trial(devices: 3, problems: 1, silent: 0))
    #expect(survey.trial(of: 7) == FleetSurvey.Trial(devices: 4, problems: 2, silent: 0))
    #expect(survey.trial(of: 6, in: "c") == FleetSurvey.Trial(devices: 3, problems: 1, silent: 0))
  }

  @Test func `a state is withheld if more devices fail than may, or if none has tried`() throws {
    let halt = FleetHalt(percent: 2)
    let two = try halt.check(FleetSurvey.Trial(devices: 100, problems: 2, silent: 0), 7)
    #expect(two == "2 of 100 devices with the state 7 report a problem (2.0 %), not more than 2 %")
    let three = #expect(throws: FleetError.self) {
      try halt.check(FleetSurvey.Trial(devices: 100, problems: 3, silent: 1), 7)
    }
    #expect(
      three?.description
        == "3 of 100 devices with the state 7 report a problem (3.0 %), more than 2 %: the next ring is withheld;"
        + " 1 of them did not report for two days")
    #expect(three?.exitStatus == .no)
    let one = #expect(throws: FleetError.self) {
      try FleetHalt(percent: 0).check(FleetSurvey.Trial(devices: 1, problems: 1, silent: 0), 7, of: "catalogue c")
    }
    #expect(one?.description.hasPrefix("catalogue c: 1 of 1 device with the state 7 reports a problem") == true)
    let none = #expect(throws: FleetError.self) { try halt.check(FleetSurvey.Trial(), 7) }
    #expect(none?.description == "no device has reported the state 7 yet: the next ring is withheld")
  }

  /// Rings as people give them: percent and state, one after the other.
  private static func rings(_ values: [Double]) -> [PublicationHead.Ring] {
    stride(from: 0, to: values.count, by: 2).map {
      PublicationHead.Ring(percent: values[$0], sequence: UInt64(values[$0 + 1]))
    }
  }

  @Test(arguments: [
    (former: [10, 7, 100, 6], rings: [25, 7, 100, 6], widened: [7 as UInt64]),
    ([10, 7, 100, 6], [100, 7], [7]),
    // Narrower, and back.
    ([25, 7, 100, 6], [10, 7, 100, 6], []),
    ([25, 7, 100, 6], [100, 6], []),
    ([100, 7], [100, 6], []),
    // The first devices of a state.
    ([100, 6], [1, 7, 100, 6], []),
    ([], [1, 8, 100, 7], []),
    // One state goes on, another one begins.
    ([10, 7, 100, 6], [1, 8, 50, 7, 100, 6], [7]),
    ([10, 7, 50, 6, 100, 5], [20, 7, 100, 6], [6, 7]),
    // The first ones go back, and others get what they had.
    ([10, 7, 100, 6], [10, 6, 100, 7], [7]),
    ([10, 7, 100, 6], [], []),
  ])
  func `what is checked are states that more devices get`(former: [Double], rings: [Double], widened: [UInt64]) throws {
    var head = try Self.head
    head.rings = Self.rings(former)
    var next = head
    next.rings = Self.rings(rings)
    #expect(FleetHalt.widened(from: head, to: next) == widened)
  }

  /// A head with the states 5 to 8.
  private static var head: PublicationHead {
    get throws {
      func state(_ sequence: UInt64) -> PublicationHead.State {
        let file = PublicationHead.File(byteCount: 1, sha256: String(repeating: "0", count: 64))
        return PublicationHead.State(
          sequence: sequence, cursor: "", counts: .init(products: 1, relations: 0, codes: 0), digest: "",
          base: .init(sequence: sequence, file: file, top: file), deltas: [])
      }
      var head = PublicationHead(
        catalogue: "c", publisher: "p", published: now, expires: now, poll: 1, spread: 1,
        limits: .init(rows: 1, bytes: 1, text: 1), state: state(8))
      head.held = [state(5), state(6), state(7)]
      return head
    }
  }

  @Test func `rings that are withheld leave the head as it is`() async throws {
    let scene = try Scene()
    for day in 0..<2 {
      try scene.source.full([Product("a", "1", name: "\(day)")], [], cursor: scene.nextCursor())
      try await scene.publish()
    }
    scene.options.rings = Self.rings([10, 2, 100, 1])
    _ = try await scene.publisher.setRings()
    let head = try scene.head
    let folder = FleetFolder()
    let store = try FleetStore.collecting(folder.path)
    let snapshot = try await {
      _ = try await store.add([
        FleetReport("a", 2, catalogue: head.catalogue, target: 2),
        FleetReport("b", 1, problem: "publication_refused: x", catalogue: head.catalogue, target: 2),
      ])
      return try store.snapshot()
    }()
    func setRings(_ values: [Double], halt: Double) async throws -> PublishReport {
      scene.options.rings = Self.rings(values)
      scene.options.checkRings = {
        _ = try FleetHalt(percent: halt).check(snapshot, from: $0, to: $1, now: Self.now)
      }
      return try await scene.publisher.setRings()
    }
    await #expect(throws: FleetError.self) { try await setRings([50, 2, 100, 1], halt: 49) }
    #expect(try scene.head == head)
    let wider = try await setRings([50, 2, 100, 1], halt: 50)
    #expect(wider.isPublished)
    let back = try await setRings([100, 1], halt: 0)
    #expect(back.isPublished)
  }
}
