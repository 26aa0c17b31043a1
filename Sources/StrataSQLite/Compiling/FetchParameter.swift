import StrataStore

/// A `?` in the SQL of a fetch: which value of SQLite it is, given the constants of the condition.
///
/// The SQL does not hold the constants, so that one translation serves all fetches of a ``FetchShape``.
struct FetchParameter {
    let value: ([Value]) throws(StoreError) -> SQLValue

    /// How many parameters a statement has. SQLite allows at least 999; the rest are in a list, which is the last.
    static let limit = 900
}

/// The parameters of a statement while it is made.
struct FetchParameters {
    private(set) var list: [FetchParameter] = []
    private var further: [FetchParameter] = []

    /// Adds a parameter.
    /// - Returns: How it is in the SQL.
    mutating func add(_ value: @escaping ([Value]) throws(StoreError) -> SQLValue) -> String {
        if list.count < FetchParameter.limit {
            list.append(FetchParameter(value: value))
            return "?\(list.count)"
        }
        further.append(FetchParameter(value: value))
        return "strata_value(?\(FetchParameter.limit + 1), \(further.count - 1))"
    }

    /// Adds a parameter that must be by itself: a list or a function.
    mutating func addObject(_ value: @escaping ([Value]) throws(StoreError) -> SQLValue) -> String {
        while list.count == FetchParameter.limit { list.append(FetchParameter { _ in .null }) }
        list.append(FetchParameter(value: value))
        return "?\(list.count)"
    }

    /// All of them in the order of their numbers.
    var all: [FetchParameter] {
        if further.isEmpty { return list }
        let further = further
        var all = list
        let values = FetchParameter { (constants: [Value]) throws(StoreError) -> SQLValue in
            var values: [SQLValue] = []
            values.reserveCapacity(further.count)
            for parameter in further { values.append(try parameter.value(constants)) }
            return .list(ValueList(values: values))
        }
        if all.count > FetchParameter.limit { all[FetchParameter.limit] = values } else { all.append(values) }
        return all
    }
}
