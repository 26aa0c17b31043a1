/// Requests built up step by step. Each step gives a new request:
///
///     let request = City.where { $0.country.name == "Peru" && $0.population > 100_000 }
///         .sorted(by: City.keys.population.descending, City.keys.name.ascending)
///         .limit(10)
extension FetchRequest {
    /// The request with one more condition, which must also hold.
    ///
    ///     let peruvian = City.where { $0.country.countryId == "PE" }
    ///     let large = peruvian.where(City.keys.population > 1_000_000)
    public func `where`(_ condition: some PredicateConvertible) -> FetchRequest {
        with { $0.predicate = predicate.map { $0 && condition.predicate } ?? condition.predicate }
    }

    /// The request with more criteria of its order, after those that it has.
    ///
    ///     let request = FetchRequest<City>().sorted(by: City.keys.country.name.ascending, City.keys.population.descending)
    public func sorted(by sorts: FetchSort...) -> FetchRequest { with { $0.sorts += sorts } }

    /// The request for at most this many objects; nil for all. It replaces an earlier limit.
    public func limit(_ limit: Int?) -> FetchRequest { with { $0.limit = limit } }

    /// The request that skips this many objects at the beginning. It replaces an earlier offset.
    public func offset(_ offset: Int) -> FetchRequest { with { $0.offset = offset } }

    /// The request with more relationships that are read together with the objects.
    ///
    ///     let request = City.where { $0.population > 1_000_000 }.prefetch(City.keys.country)
    ///     for city in try context.fetch(request) { print(city.name, city.country.name) }  // two statements in all
    public func prefetch(_ paths: any PrefetchPath...) -> FetchRequest { with { $0.prefetch += paths } }

    /// The request with store-specific options; nil to use the store's defaults.
    public func options(_ options: (any StoreRequestOptions)?) -> FetchRequest { with { $0.storeOptions = options } }

    private func with(_ change: (inout FetchRequest) -> Void) -> FetchRequest {
        var request = self
        change(&request)
        return request
    }
}
