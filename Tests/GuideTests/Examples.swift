import Strata

/// Runs a request that stands as an expression in a guide, and gives the number of objects that it finds.
typealias Example = (ManagedObjectContext) throws -> Int

/// Collects expressions that stand below each other, as the guides show them: requests, conditions on cities, orders.
@resultBuilder enum Examples {
    static func buildExpression<Object: ManagedObject>(_ request: FetchRequest<Object>) -> Example {
        { try $0.fetch(request).count }
    }
    /// An order of countries, or of cities if it is a distance.
    static func buildExpression(_ order: FetchSort) -> Example {
        { context in
            "\(order)".contains("distance")
                ? try context.fetch(FetchRequest<City>(sortedBy: [order])).count
                : try context.fetch(FetchRequest<Country>(sortedBy: [order])).count
        }
    }
    static func buildExpression(_ condition: FetchPredicate) -> Example {
        { try $0.fetch(FetchRequest<City>(where: condition)).count }
    }
    static func buildBlock(_ examples: Example...) -> [Example] { examples }
}
