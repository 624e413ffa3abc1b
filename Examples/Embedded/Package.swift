// swift-tools-version: 6.2

import PackageDescription

// The program look-up by itself. Without the trait `Daemon`, SwiftPM resolves no package that only the daemon, the studio
// and the commands need; scripts/examples checks that.

let package = Package(
  name: "shelfmark-look-up",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "shelfmark", path: "../..", traits: [])],
  targets: [
    .executableTarget(name: "look-up", dependencies: [.product(name: "Shelfmark", package: "shelfmark")])
  ],
  swiftLanguageModes: [.v6]
)
