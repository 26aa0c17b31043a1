// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who uses Strata fetches or builds what only the comparison needs.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Strata", path: "..", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    ],
    targets: [
        .target(name: "CBench", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "strata-bench",
            dependencies: [
                "CBench",
                .product(name: "Strata", package: "Strata"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            plugins: [.plugin(name: "StrataPlugin", package: "Strata")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
