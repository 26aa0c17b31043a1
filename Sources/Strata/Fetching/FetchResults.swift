/// The results of a fetch as they come; see ``ManagedObjectContext/results(of:)``. The sequence lives where its context
/// lives.
public struct FetchResults<Object: ManagedObject>: AsyncSequence {
    /// Objects.
    public typealias Element = [Object]
    /// The error that a result may fail with.
    public typealias Failure = PersistenceError

    let context: ManagedObjectContext
    let request: FetchRequest<Object>
    let stages: [(any StoreRequestOptions)?]

    /// Gives the results one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let context: ManagedObjectContext
        var request: FetchRequest<Object>
        var stages: ArraySlice<(any StoreRequestOptions)?>

        /// The next result; nil after the last one.
        /// - Throws: As ``ManagedObjectContext/fetch(_:)``.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(PersistenceError) -> [Object]? {
            guard let stage = stages.popFirst() else { return nil }
            request.storeOptions = stage
            do throws(PersistenceError) {
                return try await context.fetch(request)
            } catch {
                stages = []
                throw error
            }
        }

        /// The next result; nil after the last one.
        /// - Throws: As ``ManagedObjectContext/fetch(_:)``.
        public mutating func next() async throws(PersistenceError) -> [Object]? { try await next(isolation: nil) }
    }

    /// Gives the results from the first one.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(context: context, request: request, stages: stages[...])
    }
}
