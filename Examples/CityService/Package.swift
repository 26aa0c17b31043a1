// swift-tools-version: 6.2
import PackageDescription

// A Hummingbird service that tells its clients of changes by Server-Sent Events.
let package = Package(
    name: "CityService",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Strata", path: "../..", traits: []),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "city-service",
            dependencies: [
                .product(name: "Strata", package: "Strata"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            path: "Sources/CityService",
            plugins: [.plugin(name: "StrataPlugin", package: "Strata")]),
        .testTarget(
            name: "CityServiceTests",
            dependencies: ["city-service", .product(name: "HummingbirdTesting", package: "hummingbird")]),
    ],
    swiftLanguageModes: [.v6]
)
