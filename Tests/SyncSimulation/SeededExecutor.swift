import Foundation
import SeededRandom
import StrataRemote

/// Runs all tasks of a simulation on the calling thread, one job at a time; which one comes next is chosen by the seed.
/// Time passes only when there is nothing left to run.
///
/// `@unchecked Sendable`: everything happens on one thread.
public final class SeededExecutor: TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []
    private var sleepers: [Sleeper] = []
    private var nextSleeper = 0
    /// The source of all chance.
    public var random: SplitMix64
    /// The time in seconds since the beginning.
    public private(set) var time: Double = 0

    private struct Sleeper {
        let number: Int
        let deadline: Double
        let wake: @Sendable () -> Void
    }

    /// An executor for one run.
    public init(seed: UInt64) { random = SplitMix64(seed: seed) }

    public func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    /// Calls a closure after so many seconds.
    /// - Returns: A number by which it can be taken back.
    @discardableResult
    func after(_ seconds: Double, _ wake: @escaping @Sendable () -> Void) -> Int {
        nextSleeper += 1
        sleepers.append(Sleeper(number: nextSleeper, deadline: time + max(0, seconds), wake: wake))
        return nextSleeper
    }

    /// Takes a sleeper back.
    func cancel(_ number: Int) {
        guard let index = sleepers.firstIndex(where: { $0.number == number }) else { return }
        let sleeper = sleepers.remove(at: index)
        sleeper.wake()
    }

    /// Runs until a condition holds.
    /// - Returns: false if nothing is left to run before that, or too much was run.
    func run(until isDone: () -> Bool) -> Bool {
        for _ in 0..<50_000_000 {
            if isDone() { return true }
            if !jobs.isEmpty {
                let job = jobs.remove(at: random.below(jobs.count))
                job.runSynchronously(on: asUnownedTaskExecutor())
            } else if let next = sleepers.indices.min(by: { sleepers[$0].deadline < sleepers[$1].deadline }) {
                let sleeper = sleepers.remove(at: next)
                time = max(time, sleeper.deadline)
                sleeper.wake()
            } else {
                return false
            }
        }
        return false
    }
}

extension SplitMix64 {
    /// A number from 0 up to 1.
    mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }
    /// True with a probability.
    mutating func chance(_ probability: Double) -> Bool { unit() < probability }
}

/// The clock of one machine in a simulation, which may go wrong by a constant.
struct SimulatedClock: RemoteClock {
    let executor: SeededExecutor
    var skew: Double = 0

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
