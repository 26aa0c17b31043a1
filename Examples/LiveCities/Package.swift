// swift-tools-version: 6.2
import PackageDescription

// A web page with a list that changes while other processes edit the store.
let package = Package(
    name: "LiveCities",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Strata", path: "../..", traits: []),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "live-cities",
            dependencies: [
                .product(name: "Strata", package: "Strata"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/LiveCities",
            plugins: [.plugin(name: "StrataPlugin", package: "Strata")]),
        .testTarget(
            name: "LiveCitiesTests",
            dependencies: ["live-cities", .product(name: "HummingbirdTesting", package: "hummingbird")]),
    ],
    swiftLanguageModes: [.v6]
)
