import Foundation
import Hummingbird
import Strata

/// Serves `cities.sqlite`, or the file that is named as the first argument, at 127.0.0.1:8080.
@main
struct CityService {
    static func main() async throws {
        let store = try CityStore(.file(path: CommandLine.arguments.dropFirst().first ?? "cities.sqlite"))
        let service = Application(
            router: routes(store), configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 8080)))
        try await service.runService()
    }
}
