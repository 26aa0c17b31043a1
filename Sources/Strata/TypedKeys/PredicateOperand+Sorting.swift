/// Orders by a key, or by what is calculated from keys:
///
///     let sorts = [
///         City.keys.population.descending,
///         City.keys.position.distance(to: GeoPoint(latitude: -12.04, longitude: -77.03)).ascending,
///         Country.keys.cities.sum(\.population).descending,
///     ]
extension PredicateOperand {
    /// An order with small values first, and nil before all.
    ///
    ///     let request = FetchRequest<City>(sortedBy: [City.keys.country.name.ascending, City.keys.population.descending])
    ///
    /// The key must lead to one value for each object: through to-one relationships, or to an aggregate such as `count`.
    public var ascending: FetchSort { FetchSort(expression) }
    /// An order with large values first, and nil last.
    public var descending: FetchSort { FetchSort(expression, ascending: false) }
}

extension PredicateOperand where Operand: ComparableAttribute, Operand.Wrapped == String {
    /// In the order of the text as far as the options look.
    public func ascending(_ options: ComparisonOptions) -> FetchSort { FetchSort(expression, options: options) }
    /// In the opposite order of the text as far as the options look.
    public func descending(_ options: ComparisonOptions) -> FetchSort {
        FetchSort(expression, ascending: false, options: options)
    }
}
