/// Options of one fetch, load or save for a particular kind of store.
///
///     struct Freshness: StoreRequestOptions { var seconds: Double }
///
///     var request = City.where { $0.population > 1_000_000 }
///     request.storeOptions = Freshness(seconds: 60)
///     let cities = try await context.fetch(request)
///
/// A context passes the options to its store without reading them, and stores that do not know the type ignore them. So the
/// same code runs on a SQLite store and on one that has options. `RemoteOptions` of `StrataRemote` is such a type: it has
/// policies for fetches and saves. If you write a `NetworkStore`, declare your own type, and cast to it where the methods of
/// the protocol receive options.
public protocol StoreRequestOptions: Sendable {}
