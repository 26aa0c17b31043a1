import StrataStore

/// A parameter in the SQL of a fetch: which value it is, given the constants of the condition.
///
/// The SQL does not hold the constants, so that one translation serves all fetches of a ``FetchShape``.
package struct FetchParameter: Sendable {
    /// What kind of value it is; nil where it is a function of the condition.
    package let kind: SQLKind?
    /// Whether it is a list of such values.
    package let isList: Bool
    package let value: @Sendable ([Value]) throws(StoreError) -> SQLValue
}

/// The parameters of a statement while it is made.
package struct FetchParameters {
    package private(set) var list: [FetchParameter] = []
    private let dialect: any SQLDialect
    private var further: [FetchParameter] = []

    package init(dialect: any SQLDialect) { self.dialect = dialect }

    /// Adds a parameter.
    /// - Returns: How it is in the SQL.
    package mutating func add(
        _ kind: SQLKind, _ value: @escaping @Sendable ([Value]) throws(StoreError) -> SQLValue
    ) -> String {
        let parameter = FetchParameter(kind: kind, isList: false, value: value)
        if list.count < dialect.parameterLimit {
            list.append(parameter)
            return dialect.parameter(list.count, kind, isList: false)
        }
        further.append(parameter)
        return dialect.furtherParameter(further.count - 1, kind)
    }

    /// Adds a list of values of a kind.
    package mutating func addList(
        of kind: SQLKind, _ value: @escaping @Sendable ([Value]) throws(StoreError) -> SQLValue
    ) -> String {
        addObject(FetchParameter(kind: kind, isList: true, value: value))
        return dialect.parameter(list.count, kind, isList: true)
    }

    /// Adds a function of the condition.
    /// - Returns: Its number.
    package mutating func addCall(_ value: @escaping @Sendable ([Value]) throws(StoreError) -> SQLValue) -> Int {
        addObject(FetchParameter(kind: nil, isList: false, value: value))
        return list.count
    }

    /// Adds a parameter that must be by itself.
    private mutating func addObject(_ parameter: FetchParameter) {
        while list.count == dialect.parameterLimit {
            list.append(FetchParameter(kind: .integer, isList: false) { _ in .null })
        }
        list.append(parameter)
    }

    /// All of them in the order of their numbers.
    package var all: [FetchParameter] {
        if further.isEmpty { return list }
        let further = further
        var all = list
        let values = FetchParameter(kind: nil, isList: true) { (constants: [Value]) throws(StoreError) -> SQLValue in
            var values: [SQLValue] = []
            values.reserveCapacity(further.count)
            for parameter in further { values.append(try parameter.value(constants)) }
            return .list(ValueList(values: values))
        }
        let limit = dialect.parameterLimit
        if all.count > limit { all[limit] = values } else { all.append(values) }
        return all
    }
}
