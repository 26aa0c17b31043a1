import Foundation
import SeededRandom
import StrataRemote

/// Runs all tasks of a simulation on the calling thread, one job at a time; which one comes next is chosen by the seed.
/// Time passes only when there is nothing left to run.
///
/// `@unchecked Sendable`: everything happens on one thread, but the state guarded by the lock.
public final class SeededExecutor: TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []
    /// What came from other threads, and whether something is still to come from there.
    private let condition = NSCondition()
    private var returned: [UnownedJob] = []
    private var isAbsent = false
    private var presentJobs = 0
    private let thread = pthread_self()
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

    /// An executor for one run on the calling thread.
    public init(seed: UInt64) { random = SplitMix64(seed: seed) }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard pthread_equal(pthread_self(), thread) == 0 else { return jobs.append(job) }
        condition.lock()
        returned.append(job)
        condition.signal()
        condition.unlock()
    }

    /// The current task hands work to another thread and goes on when that is done. Nothing else runs before it calls
    /// ``hasReturned()``, so that the speed of threads decides nothing.
    func expectReturn() {
        isAbsent = true
        presentJobs = jobs.count
    }

    /// The task is back.
    func hasReturned() { isAbsent = false }

    /// Runs a job, and waits for what it leaves to another thread.
    private func run(_ job: UnownedJob) {
        job.runSynchronously(on: asUnownedTaskExecutor())
        while isAbsent {
            // The task may come by here on its way.
            if jobs.count > presentJobs {
                jobs.removeLast().runSynchronously(on: asUnownedTaskExecutor())
                continue
            }
            condition.lock()
            while returned.isEmpty { condition.wait() }
            let list = returned
            returned = []
            condition.unlock()
            for job in list { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    /// Calls a closure after this many seconds.
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
                run(jobs.remove(at: random.below(jobs.count)))
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
    /// One of some elements.
    mutating func one<T>(of list: [T]) -> T { list[below(list.count)] }
}
