#if Server
    import Foundation

    /// Runs the tasks of a service on threads outside of the cooperative pool.
    ///
    /// The pool has one thread for each processor. A program that serves and blocks these threads at the same time, for
    /// example by synchronous calls of a client to the very same service, would otherwise wait for itself.
    final class ServiceThreads: TaskExecutor {
        private let queue = DispatchQueue(label: "strata.server.tasks", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
#endif
