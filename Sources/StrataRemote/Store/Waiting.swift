import Foundation
import StrataStore

/// Blocks until asynchronous work is done.
///
/// The work and all tasks within it run on threads of their own: a program whose cooperative threads all wait like this
/// still gets on. What the work needs of the main actor it cannot get while the main thread waits.
enum Waiting {
    private static let executor = ThreadExecutor(label: "strata.waiting")

    static func wait<R: Sendable>(
        _ body: @escaping @Sendable () async throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let outcome = Guarded<Result<R, StoreError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task(executorPreference: executor) {
            let result: Result<R, StoreError>
            do throws(StoreError) {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            outcome.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = outcome.withLock({ $0 }) else { throw .cancelled }
        return try result.get()
    }

    /// Runs blocking work where no task waits for a thread.
    static func elsewhere<R: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        let result: Result<R, StoreError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                do throws(StoreError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
