import Foundation
import Strata

@testable import live_cities

/// A store with some cities, in a folder that is removed with it.
final class SampleStore: Sendable {
    let folder: URL
    var path: String { folder.appending(path: "cities.sqlite").path }

    init(_ populations: KeyValuePairs<String, Int64>) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "live-cities-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let context = try container().newContext()
        let continent = Continent(context: context, continentId: "AS", name: "Asia")
        let country = Country(
            context: context, countryId: "XX", name: "Somewhere", areaSquareKilometres: 1, languages: [],
            continent: continent)
        for (number, (name, population)) in populations.enumerated() {
            let city = City(
                context: context, cityId: String(number), name: name, position: GeoPoint(latitude: 0, longitude: 0),
                timeZone: "Etc/UTC", alternateNames: [], country: country)
            city.population = population
        }
        try context.save()
    }

    func container() throws -> PersistentContainer {
        try PersistentContainer(GazetteerModel.self, at: .file(path: path))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}

/// The program that the package builds, next to the tests.
var program: URL {
    // The tests run as a program of the toolchain or as a bundle of their own; the build folder is where the bundle is.
    let candidates = [
        Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        URL(fileURLWithPath: Bundle(for: SampleStore.self).bundlePath).deletingLastPathComponent(),
        URL(fileURLWithPath: Bundle(for: SampleStore.self).bundlePath),
    ]
    return candidates.map { $0.appending(path: "live-cities") }.first {
        FileManager.default.isExecutableFile(atPath: $0.path)
    }
        ?? candidates[0].appending(path: "live-cities")
}

/// Runs the program to its end.
/// - Returns: Its exit status.
func runProgram(_ arguments: String...) async throws -> Int32 {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    return try await withCheckedThrowingContinuation { continuation in
        process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
        do { try process.start() } catch { continuation.resume(throwing: error) }
    }
}

/// On Linux, a process that starts while another is started can inherit the socket by which Foundation learns of its end;
/// Foundation then waits for both (https://github.com/swiftlang/swift-corelibs-foundation/issues/4795).
private let launches = NSLock()

extension Process {
    /// Starts the process while no other starts.
    func start() throws { try launches.withLock { try run() } }
}
