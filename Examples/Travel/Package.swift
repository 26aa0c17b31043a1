// swift-tools-version: 6.2
import PackageDescription

// A command-line app that works offline and synchronizes with a server.
let package = Package(
    name: "Travel",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Strata", path: "../..", traits: ["Remote"]),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "travel",
            dependencies: [
                .product(name: "Strata", package: "Strata"),
                .product(name: "StrataStackMob", package: "Strata"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/Travel",
            plugins: [.plugin(name: "StrataPlugin", package: "Strata")]),
        .testTarget(
            name: "TravelTests",
            dependencies: ["travel", .product(name: "StrataRemoteTesting", package: "Strata")]),
    ],
    swiftLanguageModes: [.v6]
)
