/// Orders by a key, or by what is calculated from keys:
///
///     let sorts = [
///         City.keys.population.descending,
///         City.keys.position.distance(to: GeoPoint(latitude: -12.04, longitude: -77.03)).ascending,
///         Country.keys.cities.sum(\.population).descending,
///     ]
extension PredicateOperand {
    /// Small values first, nil before all. Sorts start at the object that is fetched.
    public var ascending: FetchSort { FetchSort(expression) }
    /// Large values first, nil last.
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
