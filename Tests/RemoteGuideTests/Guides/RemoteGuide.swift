import Foundation
import PlainJSONStore
import Strata
import StrataAsyncHTTP
import StrataMaxLeap
import StrataStackMob
import StrataRemoteTesting
import Testing

/// The examples of Documentation/Remote.md.
enum RemoteGuide {
    @MainActor static func first(_ backend: any RemoteBackend, path: String) async throws -> PersistentContainer {
        var options = RemoteStore.Options()
        options.fetchPolicy = .networkElseCache
        let store = try RemoteStore.open(
            model: GazetteerModel.model, backend: backend, location: .file(path: path), options: options)
        let container = try PersistentContainer(store: store, classes: GazetteerModel.classes)
        let context = container.viewContext

        let cities = try await context.fetch(City.where { $0.population > 1_000_000 })
        cities[0].name = "Greater Lima"
        try await context.save()
        return container
    }

    static func both(_ context: ManagedObjectContext, show: ([City]) -> Void) async throws {
        let request = City.where { $0.population > 1_000_000 }.options(RemoteOptions(fetchPolicy: .cacheThenNetwork))
        for try await cities in context.results(of: request) {
            show(cities)  // immediately, and again when the server has answered
        }
    }

    static func watching(
        _ backend: any RemoteBackend, _ reachability: NetworkReachability, model: ManagedObjectModel,
        location: SQLiteStore.Location
    ) throws -> (RemoteStore, ReachabilityObservation, Task<Void, Never>) {
        var options = RemoteStore.Options()
        options.savePolicy = .networkElseQueue
        let store = try RemoteStore.open(model: model, backend: backend, location: location, options: options)
        let watch = store.synchronizes(with: reachability)  // keep it
        let monitor = Task { await reachability.monitor(every: 30) }  // cancel it to stop
        return (store, watch, monitor)
    }

    static func failures(_ context: ManagedObjectContext, print: (Any, Any) -> Void) async throws {
        do throws(PersistenceError) {
            try await context.save()
        } catch {
            guard case .store(.remote(let failure)) = error else { throw error }
            for one in failure.inserted + failure.updated + failure.deleted { print(one.objectID, one.failure) }
        }
    }

    static func loading(_ context: ManagedObjectContext, print: (String) -> Void) async throws {
        let cities = try await context.fetch(FetchRequest<City>())
        try await context.load(City.keys.country, of: cities)  // one request, or as few as the back end allows
        for city in cities { print(city.country.name) }
    }

    static func members(_ context: ManagedObjectContext, print: (String) -> Void) async throws {
        let countries = try await context.fetch(FetchRequest<Country>(prefetch: [Country.keys.cities]))
        for country in countries { print("\(country.name): \(country.cities.count)") }
    }

    static func backend(
        _ dialect: any RemoteDialect, _ transport: any HTTPTransport, _ authorizer: (any RequestAuthorizer)?
    ) -> HTTPBackend {
        let backend = HTTPBackend(dialect: dialect, transport: transport, authorizer: authorizer)
        return backend
    }

    static func middleware(
        _ dialect: any RemoteDialect, _ transport: any HTTPTransport, _ authorizer: (any RequestAuthorizer)?
    ) -> HTTPBackend {
        let backend = HTTPBackend(
            dialect: dialect, transport: transport, authorizer: authorizer, middleware: [Language(), Timing()])
        return backend
    }

    static func patient(
        _ client: StackMobClient, askUser: @escaping @Sendable () async throws(RemoteError) -> (String, String)
    ) -> StackMobClient {
        let patient = client.adding(
            LogInAgain { () async throws(RemoteError) in
                let (name, password) = try await askUser()  // a function of your app
                try await client.users.logIn(name, password: password)
            })
        return patient
    }

    static func users(
        _ client: MaxLeapClient, password: String, other: String, token: String, id: String,
        print: (String, String) -> Void
    ) async throws {
        let users: any RemoteUsers = client.users
        let user = try await users.signUp("ann", password: password, fields: ["city": "Oslo"])
        print(user.id, users.currentUser?.name ?? "-")  // the next launch finds her logged in

        try await users.changePassword(from: password, to: other)
        try await users.link(ProviderToken("facebook", token: token, userID: id))
        try await users.logOut()
    }

    static func pages(_ context: ManagedObjectContext, print: (String, String) -> Void) async throws {
        let total = TotalCount()
        let request = City.where { $0.population > 1_000_000 }.limit(20)
            .options(RemoteOptions(includes: ["country"], total: total))
        let page = try await context.fetch(request)
        print("\(page.count) of \(total.value ?? page.count)", page.first?.country.name ?? "-")
    }

    static func names(_ context: ManagedObjectContext, show: (String) -> Void) async throws {
        let names = City.where { $0.population > 1_000_000 }.limit(50).options(RemoteOptions(properties: ["name"]))
        for city in try await context.fetch(names) { show(city.name) }  // one request
    }

    static func files(
        _ photo: Photo, _ store: RemoteStore, _ context: ManagedObjectContext, bytes: Data, reference: String,
        show: @escaping @Sendable (Int, Int?) -> Void
    ) async throws -> Data {
        photo.picture = try store.stageFile(bytes, name: "me.jpeg", contentType: "image/jpeg")
        try await context.save(options: RemoteOptions(fileProgress: FileProgress { show($0.completed, $0.total) }))

        let data = try await store.fileData(
            photo.picture ?? "", progress: FileProgress { show($0.completed, $0.total) })

        photo.picture = nil
        try await context.save()
        try await store.deleteFile(reference)
        return data
    }

    static func subqueries() throws -> (FetchRequest<City>, RemoteSubquery) {
        let inPeru = RemoteSubquery.leads("country", to: "Country", where: try FetchPredicate(format: "name == 'Peru'"))
        let others = FetchRequest<City>().options(RemoteOptions(subqueries: [!inPeru]))
        let sameName = RemoteSubquery.has("name", sameAs: "name", of: "Country")
        return (others, sameName)
    }

    static func changes(_ store: RemoteStore, _ feed: some ServerChangeFeed) -> ServerChangeWatch {
        store.sync.serverHasChanges()

        let watch = store.synchronizes(with: feed)  // keep it
        return watch
    }

    #if AsyncHTTP
        static func asyncHTTP(_ configuration: inout StackMobConfiguration) {
            var http = AsyncHTTPTransport.standardConfiguration
            http.proxy = .server(host: "proxy.example.com", port: 3128)
            configuration.transport = AsyncHTTPTransport(configuration: http)  // of a StackMobClient, for instance
        }
    #endif

    static func suite() async {
        let failures = await BackendSuite.run(PlainJSONServers())
        #expect(failures.isEmpty, "\(failures)")
    }

    static func synchronizing(
        _ store: RemoteStore, show: @escaping @Sendable (SyncStatus.Phase, Int, Int?) -> Void,
        log: @escaping @Sendable (RemoteIdentity, SyncResult.Action) -> Void, print: (Any...) -> Void
    ) async throws -> (Task<Void, Never>, Task<Void, Never>) {
        let statuses = store.sync.statuses
        let progress = Task { for await status in statuses { show(status.phase, status.done, status.total) } }
        let results = store.sync.results
        let outcomes = Task { for await result in results { log(result.identity, result.action) } }

        let report = try await store.sync.synchronize()  // push(), then pull()
        print(report.received, report.removed, report.failures)
        return (progress, outcomes)
    }

    static func failedChanges(_ store: RemoteStore, print: (Any...) -> Void) throws {
        let changes = try store.sync.failedChanges()
        for change in changes { print(change.identity, change.kind, change.error) }
        try store.sync.retry(changes)  // sends them with the next push
    }

    static func dropping(_ store: RemoteStore) throws {
        let changes = try store.sync.failedChanges()
        try store.sync.drop(changes)  // new objects go; others become what the server last told
    }
}

struct Language: HTTPMiddleware {
    func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
        var request = request
        request.head.headerFields[.acceptLanguage] = "nb"
        return try await next(request)
    }
}

struct PlainJSONServers: BackendSubject {
    let name = "Plain JSON"
    func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
        // A new server for each check.
        HTTPBackend(dialect: PlainJSONDialect(authority: "localhost"), transport: PlainJSONServer())
    }
}
