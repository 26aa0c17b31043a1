// swift-tools-version: 6.2
import PackageDescription

// What strata-server is measured against: as little as answers the same requests.
let package = Package(
    name: "PlainServer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1")
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]),
        .executableTarget(
            name: "PlainServer", dependencies: ["CSQLite", .product(name: "Hummingbird", package: "hummingbird")]),
    ],
    swiftLanguageModes: [.v6]
)
