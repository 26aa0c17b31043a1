#if Server
    import HummingbirdCore
    import Logging
    import NIOCore

    /// A connection whose requests are answered on its event loop, so that what they read from and write to the connection
    /// passes between no threads. Work that takes long goes elsewhere.
    struct EventLoopChannel<Base: ServerChildChannel>: ServerChildChannel {
        let base: Base

        func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
            base.setup(channel: channel, logger: logger)
        }

        func handle(value: Base.Value, logger: Logger) async {
            await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
                await base.handle(value: value, logger: logger)
            }
        }
    }

    /// Runs tasks on an event loop.
    final class EventLoopExecutor: TaskExecutor {
        private let loop: any EventLoop

        init(_ loop: any EventLoop) { self.loop = loop }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
#endif
