import Foundation

/// Runs tasks on threads outside of the cooperative pool.
///
/// The pool has one thread for each processor. A program that blocks these threads while it waits for tasks would
/// deadlock if the tasks needed the same threads.
package final class ThreadExecutor: TaskExecutor {
    private let queue: DispatchQueue

    /// - Parameter label: Names the queue in debuggers.
    package init(label: String) { queue = DispatchQueue(label: label, attributes: .concurrent) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
