#if Server
    import Strata

    /// The objects that a request finds, of which only a few are read at a time.
    struct FoundObjects: RandomAccessCollection {
        private enum Source {
            /// A page of at most as many objects as are read at a time, read by one statement.
            case page([ManagedObject])
            case lazily(FetchedArray<ManagedObject>)
        }

        private let source: Source

        init(
            _ request: FetchRequest<ManagedObject>, in context: ManagedObjectContext, batchSize: Int
        ) throws(PersistenceError) {
            if let limit = request.limit, limit <= batchSize {
                source = .page(try context.fetch(request))
            } else {
                source = .lazily(try context.fetchLazily(request, batchSize: batchSize))
            }
        }

        var startIndex: Int { 0 }

        var endIndex: Int {
            switch source {
            case .page(let objects): objects.count
            case .lazily(let objects): objects.count
            }
        }

        subscript(place: Int) -> ManagedObject {
            switch source {
            case .page(let objects): objects[place]
            case .lazily(let objects): objects[place]
            }
        }
    }
#endif
