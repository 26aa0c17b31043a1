#if Server
    import Foundation
    import InMemoryTracing
    import StrataServer
    import Testing
    import Tracing

    @Suite struct TracingTests {
        /// The tracer of this process, which can be set only once.
        private static let tracer = {
            let tracer = InMemoryTracer(recordInjections: false, recordExtractions: false)
            InstrumentationSystem.bootstrap(tracer)
            return tracer
        }()

        /// A schema that no other test uses tells the spans of this one.
        private func spans(_ schema: String) -> [FinishedInMemorySpan] {
            Self.tracer.finishedSpans.filter { $0.operationName.split(separator: "/").dropFirst().first == schema[...] }
        }

        @Test("Each request is a span, which continues the trace of its headers and names no objects")
        func requests() async throws {
            _ = Self.tracer
            let bench = try Bench()
            let trace = [
                InMemoryTracer.traceIDKey: "trace-of-the-caller", InMemoryTracer.spanIDKey: "span-of-the-caller",
            ]
            await bench.send("POST", "/traced", ["traced_id": "secret", "n": 1], headers: trace)
            await bench.send("GET", "/traced/secret?t=private")
            await bench.send("GET", "/traced?n[like]=1")
            let found = spans("traced")
            #expect(found.map(\.operationName) == ["POST /traced", "GET /traced/*", "GET /traced"])
            #expect(found.allSatisfy { $0.kind == .server })
            #expect(found.first?.traceID == "trace-of-the-caller" && found.first?.parentSpanID == "span-of-the-caller")
            #expect(found.dropFirst().allSatisfy { $0.parentSpanID == nil })
            let statuses = found.map { $0.attributes["http.response.status_code"]?.toSpanAttribute() }
            #expect(statuses == [.int(201), .int(400), .int(400)])
            #expect(found.first?.attributes["http.request.method"]?.toSpanAttribute() == .string("POST"))
            #expect(found.first?.attributes["http.route"]?.toSpanAttribute() == .string("/traced"))
        }

        @Test("A failure of the server is one of its span, and a mistake of the client is none")
        func failures() async throws {
            _ = Self.tracer
            let bench = try Bench(
                methods: ["tracedfailure": { _ throws(ServerError) in throw ServerError(500, "It broke.") }])
            await bench.send("GET", "/tracedfailure")
            await bench.send("GET", "/tracedmistake?n[like]=1")
            #expect(spans("tracedfailure").map { $0.status?.code == .error } == [true])
            #expect(spans("tracedmistake").map { $0.status == nil } == [true])
        }

        @Test("Custom code that another server answers belongs to the trace of the request")
        func hooks() async throws {
            _ = Self.tracer
            let other = try Bench(
                methods: ["tracedhook": { _ throws(ServerError) in ServerResponse(json: ["status": "OK"]) }])
            try await other.serving { port in
                let url = try #require(URL(string: "http://127.0.0.1:\(port)/tracedhook"))
                let bench = try Bench { $0.hooks = ["tracedcall": CustomHook(url: url, secret: "s", timeout: 120)] }
                #expect(await bench.send("GET", "/tracedcall").status == 200)
            }
            let (caller, called) = (spans("tracedcall"), spans("tracedhook"))
            #expect(caller.count == 1 && called.count == 1)
            #expect(called.first?.traceID == caller.first?.traceID)
            #expect(called.first?.parentSpanID == caller.first?.spanID)
        }
    }
#endif
