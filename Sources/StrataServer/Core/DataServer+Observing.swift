#if Server
    import Foundation
    import HTTPTypes
    import Instrumentation
    import Logging
    import Tracing

    // What others see of the server: logs, metrics and traces.
    extension DataServer {
        static let metricsPath = "_metrics"

        /// Answers a request within a span, which continues the trace that the request belongs to.
        func traced(_ request: ServerRequest, _ route: RequestRoute) async -> ServerResponse {
            let instrument = InstrumentationSystem.instrument
            // Without a tracer, names of spans would be made for nobody.
            if instrument is NoOpInstrument { return await answered(request, route) }
            var context = ServiceContext.current ?? .topLevel
            instrument.extract(request, into: &context, using: HeaderExtractor())
            let path = shownPath(request)
            return await withSpan("\(request.method) \(path)", context: context, ofKind: .server) { span in
                let response = await answered(request, route)
                span.attributes["http.request.method"] = request.method
                span.attributes["http.route"] = path
                span.attributes["http.response.status_code"] = response.status
                if response.status >= 500 { span.setStatus(SpanStatus(code: .error)) }
                return response
            }
        }

        func observe(_ request: ServerRequest, _ response: ServerResponse, since start: ContinuousClock.Instant) {
            let time = start.duration(to: .now)
            metrics.count(
                request.method, status: response.status, bytes: response.body.count, seconds: time.inSeconds)
            // The query may hold names and positions, a body passwords, and paths name accounts; none of them is logged.
            logger.log(
                level: response.status >= 500 ? .error : .info, "request",
                metadata: [
                    "method": "\(request.method.prefix(20))", "path": "\(shownPath(request))",
                    "status": "\(response.status)", "client": "\(request.client)",
                    "milliseconds": "\((time.inSeconds * 1_000_000).rounded() / 1000)",
                    "bytes": "\(response.body.count)",
                ])
        }

        /// The metrics in the text format of Prometheus, for those who may read them.
        func metricsText(_ request: ServerRequest) throws(ServerError) -> ServerResponse {
            guard
                request.client == "local"
                    || options.network.metricsReaders.contains(where: { $0.contains(request.client) })
            else { throw .notFound("There is no /\(Self.metricsPath).") }
            return ServerResponse(
                status: 200, headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
                body: Data(PrometheusRegistry.shared.text().utf8))
        }

        /// The path without what names objects and accounts.
        private func shownPath(_ request: ServerRequest) -> String {
            let parts = request.path.utf8.split(separator: UInt8(ascii: "/"))
            let shown = parts.prefix(6).enumerated().map { place, part -> String in
                let text = String(Substring(part).prefix(80))
                let isWord =
                    place == 0 || text == FileVault.productionSegment
                    || options.dialects.contains { DialectRegistry.type($0.kind).isWord(text) }
                return isWord ? text : "*"
            }
            return "/" + shown.joined(separator: "/")
        }

        /// A request to another server, which continues the trace of the one that is being answered.
        static func continueTrace(_ request: inout HTTPRequest) {
            guard let context = ServiceContext.current else { return }
            InstrumentationSystem.instrument.inject(context, into: &request, using: HeaderInjector())
        }

        private struct HeaderInjector: Injector {
            func inject(_ value: String, forKey key: String, into request: inout HTTPRequest) {
                guard let name = HTTPField.Name(key), HTTPField.isValidValue(value) else { return }
                request.headerFields[name] = value
            }
        }

        private struct HeaderExtractor: Extractor {
            func extract(key: String, from request: ServerRequest) -> String? { request.header(key) }
        }
    }
#endif
