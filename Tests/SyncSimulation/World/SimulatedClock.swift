import Foundation
import StrataRemote

/// The clock of one machine in a simulation, which may go wrong, and be set.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class SimulatedClock: RemoteClock, @unchecked Sendable {
    let executor: SeededExecutor
    /// How many seconds the clock is ahead.
    var skew: Double

    init(executor: SeededExecutor, skew: Double = 0) {
        self.executor = executor
        self.skew = skew
    }

    /// When every simulation begins.
    static let start = Date(timeIntervalSinceReferenceDate: 700_000_000)

    var now: Date { Self.start.addingTimeInterval(executor.time + skew) }

    func sleep(seconds: Double) async throws(RemoteError) {
        let box = SleepBox()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                box.number = executor.after(seconds) { continuation.resume() }
            }
        } onCancel: {
            if let number = box.number { executor.cancel(number) }
        }
        if Task.isCancelled { throw RemoteError(.cancelled, domain: "Simulation", message: "cancelled") }
    }

    /// `@unchecked Sendable`: everything happens on one thread.
    private final class SleepBox: @unchecked Sendable { var number: Int? }
}
