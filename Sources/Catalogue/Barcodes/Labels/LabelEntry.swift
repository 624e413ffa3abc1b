/// A value of a label that can be typed.
struct LabelEntry: Hashable, Sendable {
  /// The name in ``ScanData``.
  let name: String
  let type: LabelValueType
  /// The identifier on the label, for issues.
  let identifier: String?
  /// The offset of the identifier in the label.
  let position: Int
  let value: [UInt8]

  /// The same value with another name.
  func renamed(_ name: String) -> LabelEntry {
    LabelEntry(name: name, type: type, identifier: identifier, position: position, value: value)
  }
}

extension Label {
  /// The typed data.
  ///
  /// - Parameter today: The current date, which decides the century of years with two digits.
  public func data(today: ScanDate) -> ScanData {
    var data = ScanData()
    for entry in entries {
      if case .success(let value) = entry.type.read(entry.value, today: today) { data.add(value, entry.name) }
    }
    return data
  }

  /// What is wrong with the label, in the order of the label.
  ///
  /// - Parameter today: The current date, which decides the century of years with two digits.
  public func issues(today: ScanDate) -> [ScanIssue] {
    var issues = faults
    var firstValues: [String: [UInt8]] = [:]
    for entry in entries {
      if case .failure(let fault) = entry.type.read(entry.value, today: today) {
        issues.append(ScanIssue(ai: entry.identifier, position: entry.position, reason: fault.reason))
      }
      // A flag of HIBC has values of several names.
      let key = (entry.identifier ?? "") + " " + entry.name
      if let first = firstValues[key], first != entry.value {
        let reason = "\(entry.identifier ?? entry.name) is on the label twice, with different values; the first counts"
        issues.append(ScanIssue(ai: entry.identifier, position: entry.position, reason: reason))
      }
      firstValues[key] = firstValues[key] ?? entry.value
    }
    // The sort is stable: issues at one position stay in the order in which they were found.
    return issues.sorted { $0.position < $1.position }
  }

  /// Adds a value to be typed.
  mutating func addEntry(
    _ name: String, _ type: LabelValueType, _ identifier: String?, at position: Int, _ value: some Sequence<UInt8>
  ) {
    entries.append(
      LabelEntry(name: name, type: type, identifier: identifier, position: position, value: Array(value)))
  }
}
