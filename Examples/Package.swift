// swift-tools-version: 6.2

import PackageDescription

// Three small programs that use Shelfmark like any other package. scripts/examples builds and runs them.

let package = Package(
  name: "shelfmark-examples",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(name: "shelfmark", path: ".."),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(name: "look-up", dependencies: [.product(name: "Shelfmark", package: "shelfmark")]),
    .executableTarget(
      name: "sync-and-watch",
      dependencies: [
        .product(name: "CatalogHTTP", package: "shelfmark"),
        .product(name: "Shelfmark", package: "shelfmark"),
      ]),
    .executableTarget(
      name: "own-daemon",
      dependencies: [
        .product(name: "DaemonHTTP", package: "shelfmark"),
        .product(name: "ScanDaemon", package: "shelfmark"),
        .product(name: "ScanInputs", package: "shelfmark"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
