import Foundation
import Strata
import StrataAzure

/// The examples of Documentation/Azure.md.
enum AzureGuide {
    static func clients(key: String) throws -> [AzureClient] {
        let client = try AzureClient("https://gazetteer.azurewebsites.net")  // Mobile Apps
        let old = try AzureClient("https://gazetteer.azure-mobile.net", applicationKey: key)  // Mobile Services

        var configuration = try AzureConfiguration("https://gazetteer.example", version: .datasync)
        configuration.dialect.tokenHeader = .bearer  // Authorization: Bearer, instead of X-ZUMO-AUTH
        let new = AzureClient(configuration)
        return [client, old, new]
    }

    static func tables(_ client: AzureClient) async throws -> JSONObject {
        let cities = client.table("City")
        var city = try await cities.insert(["name": "Cusco"])  // the server assigns the id
        city["name"] = "Qosqo"
        city = try await cities.update(city)  // sends the version in If-Match
        let same = try await cities.read(id: city["id"] ?? .null)
        try await cities.delete(city)  // or delete(id:), whatever the version
        city["version"] = nil  // the deletion gave the row another one
        try await cities.undelete(city)  // if the table keeps deleted rows
        return same
    }

    static func queries(_ cities: AzureTable, print: (Any...) -> Void) async throws -> AzureRows? {
        var query = AzureQuery(try FetchPredicate(format: "population > 100000 AND name BEGINSWITH[c] %@", "san"))
        query.order("createdAt", ascending: false)
        query.skip = 40
        query.top = 20
        query.columns = ["id", "name"]
        query.includesTotalCount = true
        query.parameters = ["tenant": "a"]  // parameters of your own
        let rows = try await cities.read(query)
        print(rows.items, rows.totalCount ?? 0)  // totalCount is nil unless you ask for it
        let more = try await cities.read(after: rows)  // nil if the server named no next page
        return more
    }

    static func conflict(_ cities: AzureTable, _ changed: JSONObject) async throws(AzureFailure) -> JSONObject {
        var city = changed
        do throws(AzureFailure) {
            city = try await cities.update(city)
        } catch {
            guard error.code == .preconditionFailed else { throw error }
            city["version"] = error.serverItem?["version"]  // the client wins
            city = try await cities.update(city)
        }
        return city
    }

    static func filters(_ first: AzureQuery) throws -> [AzureQuery] {
        var query = first
        var results: [AzureQuery] = []
        query.filter = .text("year(createdAt) eq 2026")
        results.append(query)
        query.filter = .predicate(try FetchPredicate(format: "area > $limit"), ["limit": .float(50)])
        results.append(query)
        return results
    }

    static func provider(_ client: AzureClient, token: String) async throws -> AzureUser {
        // With a token that your app has from the provider:
        let user = try await client.logIn(provider: "facebook", token: ["access_token": .string(token)])
        return user
    }

    static func browser(
        _ client: AzureClient, open: (String) async throws -> String
    ) async throws -> AzureUser? {
        // With a page in the system's browser, which comes back to an address of your app's own scheme:
        let page = try client.logInPage("facebook", returningTo: "gazetteer")
        let address = try await open(page.url)  // the address that your app is opened with
        let user = try await client.logIn(page, endedAt: address)  // nil if the address is not the end
        return user
    }

    static func renewing(_ client: AzureClient) {
        // For all requests of the client and of stores; many requests wait for the one renewal:
        client.session.onUnauthorized { _ throws(RemoteError) in
            do throws(AzureFailure) {
                return try await client.refresh()
            } catch {
                throw error.error
            }
        }
    }

    static func asking(
        _ client: AzureClient, askUser: @escaping @Sendable () async throws(RemoteError) -> AzureUser
    ) -> AzureClient {
        // As middleware, which may do more:
        let again = LogInAgain { () async throws(RemoteError) in
            client.session.replace(with: try await askUser())  // a function of your app
        }
        let patient = client.adding(again)
        return patient
    }

    static func timing(_ client: AzureClient) -> AzureClient {
        let timed = client.adding(Timing())
        return timed
    }

    static func custom(_ client: AzureClient) async throws -> (JSONValue, Data) {
        let total = try await client.invoke("sum/of", json: [3, 4], parameters: ["scale": 2])
        let picture = try await client.invoke("thumbnail", method: "GET", data: nil).body
        return (total, picture)
    }

    static func push(_ client: AzureClient, deviceToken: Data) async throws {
        let template = AzureTemplate("news", body: ["aps": ["alert": "$(text)"]])
        try await client.push.register(token: deviceToken, templates: [template])
        try await client.push.unregister()
    }

    static func numbered() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Numbered") {
            Entity("City", primaryKey: "cityId") {
                Attribute("cityId", .integer64, optional: true)
                Attribute("name", .string, optional: true)
                Relationship("country", to: "Country", .optionalToOne, inverse: "cities")
            }
            Entity("Country") {
                Attribute("countryId", .string)
                Relationship("cities", to: "City", .toMany, inverse: "country")
            }
        }
    }

    static func store(_ client: AzureClient, path: String) throws -> PersistentContainer {
        let store = try RemoteStore.open(
            model: GazetteerModel.model, backend: client.backend, location: .file(path: path))
        let container = try PersistentContainer(store: store, classes: GazetteerModel.classes)
        return container
    }

    static func offline(
        _ client: AzureClient, folder: URL
    ) async throws -> (AzureSyncContext, JSONObject, [JSONObject]) {
        let sync = try AzureSyncContext(client, keptIn: FileSessionStorage(folder: folder), named: "gazetteer")
        let city = try await sync.insert(["name": "Lima", "population": 10_092_000], into: "City")  // now it has an id
        try await sync.push()
        let large = AzureQuery(try FetchPredicate(format: "population > 1000000"))
        try await sync.pull("City", query: large, queryID: "large")
        let items = await sync.items(in: "City")
        return (sync, city, items)
    }

    static func resolving(_ sync: AzureSyncContext) async throws {
        try await sync.push { failure in
            guard let theirs = failure.serverItem else { return .leave }
            return .cancelAndUpdate(theirs)  // or .cancelAndDiscard, or .modify with the server's version
        }
    }
}

struct Timing: HTTPMiddleware {
    func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
        let start = ContinuousClock.now
        let response = try await next(request)
        print(request.head.path ?? "/", response.status, ContinuousClock.now - start)
        return response
    }
}
