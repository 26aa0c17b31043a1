#if Server
    import Metrics
    import NIOCore
    import NIOHTTP1

    /// Answers the requests of a connection, one after the other, on its event loop.
    ///
    /// The work on a request is a task that runs on the event loop, too, unless its body is large. Until there is an answer,
    /// nothing more is read. The answer is in time, or it is 408; work that has begun goes on to its end, so that a write is
    /// never half done. An answer that the connection ends with is followed by the end of the output, and what the client still
    /// sends is read and dropped for a while: if the connection were closed with bytes unread, the client might lose the answer.
    final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundIn = HTTPServerResponsePart
        typealias OutboundOut = HTTPServerResponsePart

        private enum Phase {
            /// The next part is the head of a request.
            case idle
            /// The head of a request has come.
            case receiving
            /// A request is being worked on.
            case working
            /// A large answer goes out.
            case sending
            /// The connection is a web socket, and not this handler's.
            case socket
            /// The last answer goes out.
            case closing
            /// It has gone out, and the client may close the connection.
            case leaving
        }

        private enum Event {
            case part(HTTPServerRequestPart)
            /// The client has sent bytes that are not a request.
            case garbage
            case endOfInput
        }

        /// Requests with more bytes than this are not read on the event loop, where they would keep others waiting.
        private static let largeBody = 64 * 1024
        /// How long a client may take to close a connection after the last answer, or to send more that is dropped.
        private static let farewell = TimeAmount.seconds(2)

        private let environment: ConnectionEnvironment
        private let executor: EventLoopExecutor
        private var context: ChannelHandlerContext?
        private var phase = Phase.idle
        private var incoming: IncomingRequest?
        private var outgoing: OutgoingAnswer?
        /// Done when the answer before the present request has gone out.
        private var lastAnswer: EventLoopFuture<Void>?
        /// What has come while a request is answered: no more than one read brings.
        private var waiting = CircularBuffer<Event>()
        private var holdsRead = false
        /// Whether the connection ends with the present answer.
        private var isLast = false
        private var timer: ConnectionTimer?
        /// The address of the client, while its connection is counted.
        private var address: String?

        init(_ environment: ConnectionEnvironment, on loop: any EventLoop) {
            self.environment = environment
            executor = EventLoopExecutor(loop)
        }

        private var server: DataServer { environment.server }
        private var limits: ServerLimits { server.options.limits }

        // MARK: The connection

        func handlerAdded(context: ChannelHandlerContext) {
            self.context = context
            if context.channel.isActive { begin(context) }
        }

        func channelActive(context: ChannelHandlerContext) {
            begin(context)
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            end()
            context.fireChannelInactive()
        }

        func handlerRemoved(context: ChannelHandlerContext) {
            end()
            self.context = nil
        }

        private func begin(_ context: ChannelHandlerContext) {
            guard timer == nil else { return }
            UnsentLimit.set(context.channel)
            let timer = ConnectionTimer(context.eventLoop) { [unowned self] in expire() }
            self.timer = timer
            timer.set(.now() + TimeAmount(seconds: min(limits.requests.timeout, limits.connections.idleTimeout)))
            guard let address = context.channel.remoteAddress?.ipAddress else { return }
            self.address = address
            if !environment.connections.open(address) { context.close(promise: nil) }
        }

        private func end() {
            timer?.end()
            if let address { environment.connections.close(address) }
            address = nil
            incoming?.work?.cancel()
            (incoming, outgoing) = (nil, nil)
            waiting.removeAll()
            phase = .closing
        }

        /// Closes the connection, or gives an answer in place of work that takes too long.
        private func expire() {
            switch phase {
            case .socket: break
            case .idle, .receiving, .sending, .closing, .leaving: context?.close(promise: nil)
            case .working:
                guard let incoming else { return }
                incoming.work?.cancel()
                let message = "The request took longer than \(limits.requests.timeout) seconds."
                answer(server.failure(ServerError(408, message), to: incoming.request))
            }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            switch event {
            case is ChannelShouldQuiesceEvent:
                isLast = true
                if phase == .idle { closeWhenSent() }
                if phase == .leaving { timer?.set(.now() + Self.farewell, limit: .now() + Self.farewell) }
            case ChannelEvent.inputClosed: take(.endOfInput)
            default: context.fireUserInboundEventTriggered(event)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if error is HTTPParserError { take(.garbage) } else { context.close(promise: nil) }
        }

        // MARK: Reading

        func read(context: ChannelHandlerContext) {
            holdsRead = phase == .working || phase == .sending
            if !holdsRead { context.read() }
        }

        private func readOn() {
            guard holdsRead, let context else { return }
            holdsRead = false
            context.read()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { take(.part(unwrapInboundIn(data))) }

        private func take(_ event: Event) {
            switch phase {
            case .idle, .receiving: handle(event)
            case .working, .sending: waiting.append(event)
            case .socket, .closing: break
            case .leaving:
                if case .endOfInput = event { context?.close(promise: nil) } else { timer?.extend(by: Self.farewell) }
            }
        }

        private func handle(_ event: Event) {
            switch event {
            case .part(.head(let head)): begin(head)
            case .part(.body(let part)): receive(part)
            case .part(.end): work()
            case .garbage:
                isLast = true
                send(ServerResponse(status: 400), nil)
            case .endOfInput: closeWhenSent()
            }
        }

        private func begin(_ head: HTTPRequestHead) {
            let new = IncomingRequest(head, from: address ?? "unknown", environment)
            incoming = new
            phase = .receiving
            if new.endsConnection { isLast = true }
            timer?.set(
                .now() + TimeAmount(seconds: limits.connections.idleTimeout),
                limit: .now() + TimeAmount(seconds: limits.requests.timeout))
            do throws(ServerError) { try new.checkHead(limits) } catch { return refuse(error) }
            guard new.isInvited, let context else { return }
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }

        private func receive(_ part: ByteBuffer) {
            do throws(ServerError) { try incoming?.add(part, limits) } catch { return refuse(error) }
            timer?.extend(by: TimeAmount(seconds: limits.connections.idleTimeout))
        }

        /// The rest of the request is of no use, so the connection ends with the answer.
        private func refuse(_ error: ServerError) {
            guard let incoming else { return }
            isLast = true
            send(server.failure(error, to: incoming.request), MemoryBudget.Lease(besides: incoming.lease))
        }

        // MARK: Answering

        private func work() {
            guard let incoming, let context else { return }
            let request: ServerRequest
            do throws(ServerError) { request = try incoming.whole() } catch { return refuse(error) }
            phase = .working
            timer?.set(.now() + TimeAmount(seconds: limits.requests.timeout))
            let (server, lease, loop) = (server, incoming.lease, context.eventLoop)
            let own = NIOLoopBound(self, eventLoop: loop)
            let executor: any TaskExecutor = request.body.count > Self.largeBody ? environment.threads : executor
            // With a task of its own for each request, the loop does one step for all requests that have come in before it does
            // the next step, which is faster than to run each to its end.
            self.incoming?.work = Task(executorPreference: executor) {
                let answer = await server.respond(to: request)
                if loop.inEventLoop {
                    own.value.take(answer, lease)
                } else {
                    loop.execute { own.value.take(answer, lease) }
                }
            }
        }

        /// Takes the answer to the request with a lease. One that comes after the 408 is late.
        private func take(_ response: ServerResponse, _ lease: MemoryBudget.Lease) {
            if phase == .working, incoming?.lease === lease { answer(response) }
        }

        private func answer(_ response: ServerResponse) {
            guard let incoming else { return }
            if SocketHandshake.isAsked(for: incoming.request) { return beginSocket(response, incoming) }
            let share = MemoryBudget.Lease(besides: incoming.lease)
            guard incoming.request.method == "GET" else {
                // A write is reported to the client in any case.
                share.takeAnyway(response.body.count)
                return send(response, share)
            }
            do throws(ServerError) {
                try share.take(response.body.count)
                send(response, share)
            } catch {
                send(server.failure(error, to: incoming.request), share)
            }
        }

        /// Goes on with a web socket, if the answer begins one.
        private func beginSocket(_ response: ServerResponse, _ incoming: IncomingRequest) {
            let (client, sockets, limits) = (incoming.request.client, environment.sockets, limits.sockets)
            let share = MemoryBudget.Lease(besides: incoming.lease)
            guard let dialogue = response.dialogue, let channel = context?.channel else {
                isLast = true
                return send(response, share)
            }
            guard sockets.open(client) else {
                sockets.close(client)
                let message = "An address may have \(limits.perAddress) web sockets."
                return refuse(ServerError(429, message, retryAfter: 1))
            }
            do throws(ServerError) { try share.take(SocketUpgrade.size) } catch {
                sockets.close(client)
                return refuse(error)
            }
            phase = .socket
            self.incoming = nil
            timer?.set(nil)
            let budget = environment.budget
            let upgrade = SocketUpgrade(channel: channel, limits: limits, patience: self.limits.answers.timeout) {
                MemoryBudget.Lease(budget, client: client)
            }
            Task(executorPreference: executor) {
                let open = Meter(label: "websockets_open")
                open.increment()
                await upgrade.hold(dialogue, answering: response)
                open.decrement()
                sockets.close(client)
                withExtendedLifetime(share) {}
            }
        }

        // MARK: Writing

        /// Writes an answer.
        /// - Parameter share: Its claim on memory; nil for an answer to garbage.
        private func send(_ response: ServerResponse, _ share: MemoryBudget.Lease?) {
            guard let context else { return }
            timer?.set(nil)
            let head = AnswerHead(
                response, to: incoming?.request, date: environment.date.now,
                connection: isLast ? "close" : incoming?.connection)
            context.write(wrapOutboundOut(.head(head.head)), promise: nil)
            if response.body.count > OutgoingAnswer.partSize, let share {
                phase = .sending
                outgoing = OutgoingAnswer(response.body, share, limits.answers)
                return sendPart()
            }
            if !response.body.isEmpty {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
            }
            finish()
        }

        /// Sends the next part of a large answer, if the connection has taken the one before.
        private func sendPart() {
            guard let context, phase == .sending else { return }
            timer?.set(outgoing?.deadline)
            guard let part = outgoing?.next() else {
                outgoing = nil
                return finish()
            }
            let own = NIOLoopBound(self, eventLoop: context.eventLoop)
            let sent = context.eventLoop.makePromise(of: Void.self)
            let loop = context.eventLoop
            // Others have their turn before the next part.
            sent.futureResult.whenSuccess { loop.execute { own.value.sendPart() } }
            sent.futureResult.whenFailure { _ in own.value.context?.close(promise: nil) }
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(part))), promise: sent)
        }

        /// Ends an answer, and goes on with the next request.
        private func finish() {
            guard let context else { return }
            incoming = nil
            guard !isLast else { return endConnection(context) }
            lastAnswer = context.writeAndFlush(wrapOutboundOut(.end(nil)))
            phase = .idle
            timer?.set(.now() + TimeAmount(seconds: limits.connections.idleTimeout))
            while phase == .idle || phase == .receiving, let event = waiting.popFirst() { handle(event) }
            if phase != .working, phase != .sending { readOn() }
        }

        /// Closes the connection between two requests.
        private func closeWhenSent() {
            phase = .closing
            guard let context, let lastAnswer else {
                context?.close(promise: nil)
                return
            }
            let own = NIOLoopBound(self, eventLoop: context.eventLoop)
            lastAnswer.whenComplete { _ in own.value.context?.close(promise: nil) }
        }

        /// Ends the last answer. The connection is closed when the client has closed it, too, or after a while.
        private func endConnection(_ context: ChannelHandlerContext) {
            phase = .closing
            waiting.removeAll()
            timer?.set(.now() + TimeAmount(seconds: limits.answers.timeout))
            let own = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in own.value.leave() }
            readOn()
        }

        private func leave() {
            guard let context, phase == .closing else { return }
            phase = .leaving
            timer?.set(.now() + Self.farewell, limit: .now() + TimeAmount(seconds: limits.requests.timeout))
            context.close(mode: .output, promise: nil)
        }
    }
#endif
