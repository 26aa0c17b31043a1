import Foundation

/// What a store takes from the process that it runs in: time, chance and threads.
package struct Surroundings: Sendable {
    /// The time, and waiting for it to pass.
    let clock: any RemoteClock
    /// Gives numbers from 0 up to 1, for the lengths of waits.
    let random: @Sendable () -> Double
    /// Runs background work and work that blocks; nil for the usual threads.
    let executor: (any TaskExecutor)?

    /// - Parameters:
    ///   - clock: The time.
    ///   - random: Gives numbers from 0 up to 1.
    ///   - executor: What runs the work; nil for the usual threads.
    package init(
        clock: any RemoteClock = SystemClock(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }, executor: (any TaskExecutor)? = nil
    ) {
        self.clock = clock
        self.random = random
        self.executor = executor
    }

    /// Runs blocking work where no task waits for a thread.
    func elsewhere<R: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        guard let executor else { return try await Waiting.elsewhere(body) }
        let work = Task(executorPreference: executor) { () -> Result<R, StoreError> in
            do throws(StoreError) {
                return .success(try body())
            } catch {
                return .failure(error)
            }
        }
        return try await work.value.get()
    }
}
