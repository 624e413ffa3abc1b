import Workspace

extension SettingReader {
  /// Where the key of sealed users comes from; by default, the credential that `catalogctl` finds too.
  ///
  /// What it gives is not read here: the daemon goes on without a key, for users in clear.
  mutating func key() -> KeySource? {
    let (file, command, passphrase) = (
      ["sealing", "keyFile"], ["sealing", "keyCommand"], ["sealing", "passphraseFile"]
    )
    let set = [file, command, passphrase].filter { isSet($0) }
    if set.count > 1 {
      refuse(
        set[1], nil, "cannot be set together with \(set[0].joined(separator: ".")): the key comes from one of them")
    }
    let keyFile = named(file).map(KeySource.keyFile)
    let keyCommand = text(command).flatMap { refusesEmpty(command, $0) ? nil : KeySource.command($0) }
    let passphraseFile = named(passphrase).map(KeySource.passphraseFile)
    if !set.isEmpty { return keyFile ?? keyCommand ?? passphraseFile }
    return KeySource.credential(in: environment["CREDENTIALS_DIRECTORY"])
  }

  /// The path of a file. One that systemd passes may be readable for a group.
  private mutating func named(_ path: [String]) -> String? {
    guard let file = file(path), !refusesEmpty(path, file) else { return nil }
    return file
  }

  private mutating func refusesEmpty(_ path: [String], _ value: String) -> Bool {
    if value.isEmpty { refuse(path, value, "names no key") }
    return value.isEmpty
  }
}
