import ScanDaemon

extension SettingReader {
  /// The root directory of the stores; by default, the one that `catalogctl` uses.
  mutating func root(_ environment: [String: String]) -> String {
    let path = ["root"]
    if let root = text(path) {
      if root.isEmpty { refuse(path, root, "names no directory") }
      return root
    }
    for name in ["CATALOG_ROOT", "XDG_DATA_HOME", "HOME"]
    where environment[name]?.unicodeScalars.contains("\u{FFFD}") == true {
      fault(ConfigurationFault(nil, source: .variable(name), "is not valid UTF-8"))
    }
    if let root = environment["CATALOG_ROOT"], !root.isEmpty { return root }
    if let data = environment["XDG_DATA_HOME"], !data.isEmpty { return data + "/catalog" }
    if let home = environment["HOME"], !home.isEmpty { return home + "/.local/share/catalog" }
    if !isSet(path) { refuse(path, nil, "nobody says where the stores live; set root, or $CATALOG_ROOT") }
    return ""
  }

  mutating func fillGeneral(_ options: inout DaemonOptions) {
    if let user = text("user") {
      if !(1...255).contains(user.utf8.count) { refuse(["user"], user, "is to have 1 to 255 bytes") }
      options.user = user
    }
    if let seconds = number("drainSeconds") { options.drainTimeout = .seconds(seconds) }
    options.watchesNetwork = bool("watchNetwork") ?? options.watchesNetwork
    options.rematches = bool("rematch") ?? options.rematches
    if let milliseconds = int("doubleScanMilliseconds") { options.doubleScanWindow = .milliseconds(milliseconds) }
    if let seconds = number("compaction", "intervalSeconds") {
      options.compaction.interval = seconds > 0 ? .seconds(seconds) : nil
    }
    options.compaction.maximumScansPerSecond =
      number("compaction", "maximumScansPerSecond") ?? options.compaction.maximumScansPerSecond
    if let days = number("forget", "uploadsAfterDays") { options.forgetting.uploads = .seconds(days * 86_400) }
    if let days = number("forget", "missesAfterDays") { options.forgetting.misses = .seconds(days * 86_400) }
    if let days = number("forget", "sessionsAfterDays") { options.forgetting.sessions = .seconds(days * 86_400) }
    options.maximumMisses = int("misses", "maximum") ?? options.maximumMisses
    options.maximumSessions = int("sessions", "maximum") ?? options.maximumSessions
    options.maximumScansPerSession = int("sessions", "maximumScans") ?? options.maximumScansPerSession
    options.eventCapacity = int("events", "capacity") ?? options.eventCapacity
  }

  // MARK: Names

  /// The valid names of a group, each once, without any two that have the same variable or argument.
  mutating func names(_ group: String, _ isAllowed: (Unicode.Scalar) -> Bool) -> [String] {
    let path = [group, "names"]
    var variables: [String: String] = [:]
    var names: [String] = []
    for name in list(path) ?? [] {
      guard (1...64).contains(name.utf8.count), name.unicodeScalars.allSatisfy(isAllowed) else {
        refuse(path, name, "is to have 1 to 64 letters, digits and -, _ (or . for an input)")
        continue
      }
      // This key is the list itself.
      guard name != "names" else {
        refuse(path, name, "is no name: its settings would stand where the list of names does")
        continue
      }
      if let other = variables.updateValue(name, forKey: DaemonSetting.variable([name])) {
        let problem =
          other == name ? "stands twice in the list" : "and \(other) are the same to variables and arguments"
        refuse(path, name, problem)
        continue
      }
      names.append(name)
    }
    return names
  }
}
