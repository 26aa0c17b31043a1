/// The results of a fetch as they arrive; ``ManagedObjectContext/results(of:)`` returns it.
///
///     for try await cities in context.results(of: City.where { $0.population > 1_000_000 }) {
///         show(cities.map(\.name))
///     }
///
/// A local store gives one result. A remote store gives two under the policy `cacheThenNetwork`: first what its mirror has, so
/// that you can show it immediately, and then what the server has answered. Each result is complete and replaces the one
/// before. To follow changes after that, use ``ManagedObjectContext/live(_:sectionedBy:)``.
///
/// Nothing is read until you ask for the first result. An error ends the sequence, so the results before it are all that there
/// are. The sequence lives where its context lives, and each iterator fetches again.
public struct FetchResults<Object: ManagedObject>: AsyncSequence {
    /// All objects of the request, as one of the sources has them.
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
