import Foundation
import Strata

/// A store of one of the models in a file of its own, removed with this object.
final class GuideFile: Sendable {
    let path: String
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-guide-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "guide.sqlite").path
    }

    deinit {
        // The folder is in the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    func open<Model: GeneratedModel>(
        _ model: Model.Type, options: SQLiteStore.Options = .init()
    ) throws -> PersistentContainer {
        try PersistentContainer(model, at: .file(path: path), options: options)
    }
}

/// A small world for the examples: Peru with Lima, Cusco and 160 villages, and France with Paris and Marseille.
struct World {
    static let lima = GeoPoint(latitude: -12.04, longitude: -77.03)

    let context: ManagedObjectContext
    let peru: Country
    let france: Country
    let lima: City

    init(_ container: PersistentContainer) throws {
        context = container.newContext()
        peru = Country(context: context, countryId: "PE", name: "Peru", area: 1_285_216, population: 34_000_000)
        france = Country(context: context, countryId: "FR", name: "France", area: 551_695, population: 68_000_000)
        lima = City(
            context: context, name: "Lima", population: 10_000_000, position: Self.lima, isPort: true,
            about: "The capital, without storms", country: peru)
        City(
            context: context, name: "Cusco", population: 430_000,
            position: GeoPoint(latitude: -13.53, longitude: -71.97),
            country: peru)
        let paris = Capital(
            context: context, name: "Paris", population: 2_100_000,
            position: GeoPoint(latitude: 48.86, longitude: 2.35),
            founded: Date(timeIntervalSinceReferenceDate: -60_000_000_000), country: france)
        City(
            context: context, name: "Marseille", population: 870_000,
            position: GeoPoint(latitude: 43.3, longitude: 5.37), isPort: true, country: france)
        paris.addToTwins(lima)
        Sight(
            context: context, name: "Louvre", address: Sight.Address(street: "Rue de Rivoli", zip: "75001"), city: paris
        )
        Sight(
            context: context, name: "Plaza Mayor", kind: .park,
            address: Sight.Address(street: "Jirón de la Unión", zip: nil), city: lima)
        for number in 1...160 {
            City(
                context: context, name: "Village \(1000 + number)", population: Int64(number),
                position: GeoPoint(latitude: -9, longitude: -75), country: peru)
        }
        try context.save()
    }
}
