#if Server
    import HummingbirdCore
    import Logging
    import NIOCore
    import NIOHTTP1
    import NIOHTTPCompression
    import StrataStore

    /// What the connections of a service share.
    struct ConnectionEnvironment: Sendable {
        let server: DataServer
        let isSecure: Bool
        /// The memory for bodies and answers.
        let budget: MemoryBudget
        /// The open connections, and those of them that are web sockets.
        let (connections, sockets): (ConnectionCounts, ConnectionCounts)
        /// Where large bodies are worked on.
        let threads: ThreadExecutor
        let date = DateHeader()

        init(_ server: DataServer, isSecure: Bool, threads: ThreadExecutor) {
            let (limits, network) = (server.options.limits, server.options.network)
            self.server = server
            self.isSecure = isSecure
            self.threads = threads
            budget = MemoryBudget(limit: limits.memory, percent: limits.memoryShare)
            connections = ConnectionCounts(maximum: limits.connections.perAddress, exempt: network.trustedProxies)
            // Behind a proxy each client has an address of its own, too.
            sockets = ConnectionCounts(maximum: limits.sockets.perAddress, exempt: [])
        }
    }

    /// Sets connections up: HTTP/1.1, the compression of answers, and a ``RequestHandler``, on whose event loop all the rest
    /// happens.
    struct ServerConnection: ServerChildChannel {
        struct Value: ServerChildChannelValue {
            let channel: any Channel
        }

        let environment: ConnectionEnvironment

        func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
            channel.eventLoop.makeCompletedFuture {
                var limits = NIOHTTPDecoderLimitConfiguration()
                limits.maxHeaderFieldSize = 32 * 1024
                limits.maxHeaderListSize = 64 * 1024
                limits.maxHeaderFieldCount = 200
                let pipeline = channel.pipeline.syncOperations
                // The handler of requests takes one after the other, and checks the headers of answers.
                try pipeline.configureHTTPServerPipeline(
                    withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
                    withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
                let compressor = HTTPResponseCompressor(responseCompressionPredicate: ResponseCompression.intent)
                try pipeline.addHandler(compressor)
                try pipeline.addHandler(CompressorBypass(try pipeline.context(handler: compressor)))
                try pipeline.addHandler(RequestHandler(environment, on: channel.eventLoop))
                return Value(channel: channel)
            }
        }

        /// Waits for the end of a connection. If the service ends first, it ends with the present answer.
        func handle(value: Value, logger: Logger) async {
            await withTaskCancellationHandler {
                try? await value.channel.closeFuture.get()
            } onCancel: {
                value.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
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
