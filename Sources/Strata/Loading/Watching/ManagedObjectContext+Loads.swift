extension ManagedObjectContext {
    /// Called each time the use of a property reads the store: a fault is filled, or a relationship is loaded that was not
    /// prefetched. For development: log it, or stop the program where it happens.
    ///
    ///     context.onUnplannedLoad = { print($0) }
    ///
    /// A new context starts with that of its container; see ``PersistentContainer/onUnplannedLoad``.
    public var onUnplannedLoad: ((UnplannedLoad) -> Void)? {
        get { core.settings.loads?.handler }
        set {
            guard newValue != nil || core.settings.loads != nil else { return }
            core.someLoadWatch.handler = newValue
        }
    }

    /// Runs a closure in which the use of a property must not read the store: everything that it looks at has been fetched
    /// or prefetched.
    ///
    ///     let countries = try context.fetch(FetchRequest<Country>(prefetch: [Country.keys.cities]))
    ///     try context.withStrictLoading {
    ///         for country in countries { print(country.name, country.cities.count) }
    ///     }
    ///
    /// Fetches, prefetches, saves and deletes may read. Properties give their right values in any case: a load that was not
    /// planned is made, and the error comes at the end, so that nothing is computed from data that is not there.
    /// - Parameters:
    ///   - callers: Finds the places in the program, for the error.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    /// - Throws: ``PersistenceError/unplannedLoads(_:)`` after the closure has returned; the error of the closure if it throws.
    public func withStrictLoading<R>(callers: CallerSource? = nil, _ body: () throws -> R) throws -> R {
        let (result, report) = try recordingLoads(callers: callers, body)
        guard report.loads.isEmpty else { throw PersistenceError.unplannedLoads(report.loads) }
        return result
    }

    /// Runs a closure and reports the loads that it causes by using properties, and relationships that it prefetches and
    /// does not read.
    ///
    ///     let cities = try context.fetch(FetchRequest<City>())
    ///     let (_, report) = context.recordingLoads { cities.map(\.country.name) }
    ///     print(report)  // loads that nobody planned: prefetch `City.keys.country`
    ///
    /// - Parameters:
    ///   - callers: Finds the places in the program, for the report.
    ///   - body: The closure.
    /// - Returns: The result of the closure, and the report.
    /// - Throws: The error of the closure.
    public func recordingLoads<R>(
        callers: CallerSource? = nil, _ body: () throws -> R
    ) rethrows -> (result: R, report: LoadReport) {
        let scope = LoadScope(callers: callers)
        let watch = core.someLoadWatch
        core.factory.markReadsRecorded()
        watch.open(scope)
        defer { watch.close(scope) }
        let result = try body()
        return (result, scope.result)
    }
}
