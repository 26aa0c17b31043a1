#if Server
    import Strata

    extension FetchRequest {
        /// A request that finds as many objects in whatever order: to have a place is enough to be near one, and to know
        /// that takes no distances.
        var unordered: FetchRequest {
            func unordered(_ predicate: FetchPredicate) -> FetchPredicate {
                switch predicate.node {
                case .geo(.near(let place, _, _)): return .comparison(place, .notEqual, .constant(.null), [])
                case .and(let parts): return .and(parts.map { unordered($0) })
                default: return predicate
                }
            }
            var request = self
            request.predicate = request.predicate.map { unordered($0) }
            request.sorts = []
            return request
        }
    }
#endif
