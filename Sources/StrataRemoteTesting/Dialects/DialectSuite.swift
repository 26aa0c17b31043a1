import Foundation
import HTTPTypes
import StrataRemote

/// A dialect to be checked by ``DialectSuite``, and the answers of its service.
///
///     let subject = DialectSubject(
///         dialect: MyDialect(), entity: city,
///         success: { _, _ in .scripted(json: #"{"id": "a"}"#) },
///         failure: { status in .scripted(json: #"{"error": "no"}"#, status: status) },
///         list: { records in .scripted(json: "[\(records.map { "{\"id\": \"\($0.id)\"}" }.joined(separator: ","))]") },
///         listWithUnreadable: { records in
///             .scripted(json: "[\((records.map { "{\"id\": \"\($0.id)\"}" } + ["{}"]).joined(separator: ","))]")
///         })
///     #expect(DialectSuite.run(subject).isEmpty)
///
/// The closures write answers as the service would, since only you know its format; the suite then reads them with the dialect.
/// Encode primary keys as the service does: the suite uses some with quotation marks, slashes and spaces. If a status means
/// something of its own, say so in ``ownStatuses``; for services with integers as keys, set ``hasIntegerKeys``.
public struct DialectSubject: Sendable {
    /// The dialect.
    public var dialect: any RemoteDialect
    /// An entity of a model that the dialect takes.
    public var entity: EntityDescription
    /// Whether the primary keys of the service are integers. Otherwise they are strings.
    public var hasIntegerKeys = false
    /// What statuses of failures mean where the service differs from HTTP: the kinds of which one is right.
    public var ownStatuses: [Int: Set<RemoteError.Kind>] = [:]
    /// The service's answer to a write that it has carried out. The request is the dialect's own.
    public var success: @Sendable (RemoteOperation, WireRequest) -> WireResponse
    /// The service's own way to answer with a status of failure.
    public var failure: @Sendable (_ status: Int) -> WireResponse
    /// The service's answer to a query, with these objects.
    public var list: @Sendable ([RemoteRecord]) -> WireResponse
    /// The same answer with one more object that has no primary key.
    public var listWithUnreadable: @Sendable ([RemoteRecord]) -> WireResponse

    /// Describes a dialect.
    public init(
        dialect: any RemoteDialect, entity: EntityDescription,
        success: @escaping @Sendable (RemoteOperation, WireRequest) -> WireResponse,
        failure: @escaping @Sendable (_ status: Int) -> WireResponse,
        list: @escaping @Sendable ([RemoteRecord]) -> WireResponse,
        listWithUnreadable: @escaping @Sendable ([RemoteRecord]) -> WireResponse
    ) {
        self.dialect = dialect
        self.entity = entity
        self.success = success
        self.failure = failure
        self.list = list
        self.listWithUnreadable = listWithUnreadable
    }
}

/// The laws that a dialect must obey so that stores over it lose nothing.
///
///     let failures = DialectSuite.run(subject)
///     #expect(failures.isEmpty, "\(failures)")
///
/// It makes requests, and lets the dialect read answers: successes, each status of failure, pages of a portal, empty answers,
/// and lists with an invalid record. Nothing is sent, so it runs within milliseconds, in any test. The most frequent failure is
/// ``Law/foreignAnswers``: a dialect that takes the page of a hotel's network for an answer of the service would drop changes.
///
/// ``BackendSuite`` checks the dialect together with its server.
public enum DialectSuite {
    /// A law that a dialect breaks.
    public struct Failure: Sendable, Hashable, CustomStringConvertible {
        /// The law.
        public var law: Law
        /// What was checked, and the outcome.
        public var message: String

        /// The law and what broke it.
        public var description: String { "\(law.rawValue): \(message)" }
    }

    /// The laws.
    public enum Law: String, Sendable, Hashable, CaseIterable {
        /// An answer from a portal or a proxy says nothing about the objects of a write.
        case foreignAnswers = "foreign answers"
        /// A success without the service's own content does not count.
        case emptySuccess = "empty success"
        /// The status of a failure means what HTTP says.
        case statuses = "statuses"
        /// Each write has one outcome, and a failure names no other object.
        case pairing = "pairing"
        /// An invalid record does not prevent the others from being read.
        case unreadableRecords = "unreadable records"
        /// Primary keys come back as they were sent, whatever is in them.
        case identities = "identities"
    }

    /// Tries a dialect.
    /// - Parameter laws: The laws to try.
    /// - Returns: The violations; empty if there are none.
    public static func run(_ subject: DialectSubject, laws: [Law] = Law.allCases) -> [Failure] {
        let trial = Trial(subject: subject)
        return laws.flatMap { law in
            switch law {
            case .foreignAnswers: trial.foreignAnswers()
            case .emptySuccess: trial.emptySuccess()
            case .statuses: trial.statuses()
            case .pairing: trial.pairing()
            case .unreadableRecords: trial.unreadableRecords()
            case .identities: trial.identities()
            }
        }
    }

    private struct Trial {
        let subject: DialectSubject

        enum End: Equatable {
            case done, other
            case failed(RemoteError.Kind)
        }

        private var ids: [String] { subject.hasIntegerKeys ? ["1", "2"] : ["a", "b"] }

        private var writes: [RemoteOperation] {
            let write = RemoteWrite(id: ids[0])
            return [
                .create(entity: subject.entity, [write]), .update(entity: subject.entity, write),
                .delete(entity: subject.entity, write),
            ]
        }

        private func name(_ operation: RemoteOperation) -> String {
            switch operation {
            case .create: "a creation"
            case .update: "an update"
            default: "a delete"
            }
        }

        private func end(_ operation: RemoteOperation, _ response: WireResponse) -> End {
            do throws(RemoteError) {
                guard case .outcomes(let list) = try subject.dialect.answer(response, to: operation), list.count == 1
                else { return .other }
                switch list[0] {
                case .done: return .done
                case .failed(let error): return .failed(error.kind)
                }
            } catch {
                return .failed(error.kind)
            }
        }

        private func foreign(_ status: Int) -> WireResponse {
            var fields = HTTPFields()
            fields[.contentType] = "text/html"
            return WireResponse(
                HTTPResponse(status: .init(code: status), headerFields: fields),
                body: Data("<html><body>Sign in to the network</body></html>".utf8))
        }

        /// Kinds that leave a change queued.
        private static let harmless: Set<RemoteError.Kind> = [
            .invalidAnswer, .unreachable, .timeout, .throttled, .unavailable, .unauthorized,
        ]

        func foreignAnswers() -> [Failure] {
            writes.flatMap { operation in
                [200, 201, 302, 307, 400, 403, 404, 407, 502, 511].compactMap { status in
                    let end = end(operation, foreign(status))
                    if case .failed(let kind) = end, Self.harmless.contains(kind) { return nil }
                    return Failure(
                        law: .foreignAnswers, message: "HTML with status \(status) to \(name(operation)) is \(end)")
                }
            }
        }

        func emptySuccess() -> [Failure] {
            // A delete may be answered without a word.
            writes.dropLast().compactMap { operation in
                let end = end(operation, WireResponse(HTTPResponse(status: .ok)))
                if case .failed(let kind) = end, Self.harmless.contains(kind) { return nil }
                return Failure(law: .emptySuccess, message: "an empty 200 to \(name(operation)) is \(end)")
            }
        }

        func statuses() -> [Failure] {
            let expected: [(Int, Set<RemoteError.Kind>)] = [
                (400, [.rejected]), (401, [.unauthorized]), (403, [.forbidden]), (404, [.notFound]),
                (409, [.duplicate, .conflict]), (412, [.conflict]), (413, [.rejected]), (422, [.rejected]),
                (429, [.throttled]), (500, [.unavailable]), (503, [.unavailable, .throttled]),
            ]
            return writes.flatMap { operation in
                expected.compactMap { status, usual in
                    let kinds = subject.ownStatuses[status] ?? usual
                    let end = end(operation, subject.failure(status))
                    if case .failed(let kind) = end, kinds.contains(kind) { return nil }
                    // A creation under the condition that there is no such object fails because there is one.
                    if status == 412, case .create = operation, end == .failed(.duplicate) { return nil }
                    return Failure(law: .statuses, message: "status \(status) to \(name(operation)) is \(end)")
                }
            }
        }

        func pairing() -> [Failure] {
            var result: [Failure] = []
            for operation in writes {
                do throws(RemoteError) {
                    let request = try subject.dialect.request(for: operation, options: RequestOptions())
                    let end = end(operation, subject.success(operation, request))
                    if end != .done {
                        result.append(Failure(law: .pairing, message: "a success to \(name(operation)) is \(end)"))
                    }
                    for error in failures(of: operation) where error.identity.map({ $0.id != ids[0] }) ?? false {
                        result.append(
                            Failure(law: .pairing, message: "the failure of \(name(operation)) names \(error)"))
                    }
                } catch {
                    result.append(Failure(law: .pairing, message: "\(name(operation)): \(error)"))
                }
            }
            return result
        }

        /// How a write is refused: by its outcome, or, as it is the only write of its request, by an error.
        private func failures(of operation: RemoteOperation) -> [RemoteError] {
            do throws(RemoteError) {
                let answer = try subject.dialect.answer(subject.failure(400), to: operation)
                guard case .outcomes(let list) = answer else { return [] }
                return list.compactMap { if case .failed(let error) = $0 { error } else { nil } }
            } catch {
                return [error]
            }
        }

        func unreadableRecords() -> [Failure] {
            let records = ids.map { RemoteRecord(entity: subject.entity.name, id: $0) }
            do throws(RemoteError) {
                let answer = try subject.dialect.answer(
                    subject.listWithUnreadable(records), to: .query(RemoteQuery(entity: subject.entity)))
                guard case .page(let page) = answer else {
                    return [Failure(law: .unreadableRecords, message: "a list is not a page")]
                }
                if page.records.map(\.id) == ids, page.unreadable.count == 1 { return [] }
                return [
                    Failure(
                        law: .unreadableRecords,
                        message: "of two records and one without a primary key, \(page.records.map(\.id)) are read")
                ]
            } catch {
                return [Failure(law: .unreadableRecords, message: "one record keeps all from being read: \(error)")]
            }
        }

        func identities() -> [Failure] {
            let difficult =
                subject.hasIntegerKeys
                ? ["1", "-1", "42", "9007199254740993", "9223372036854775807"]
                : ["a", "A", "with space", "with/slash", "with,comma", "with\"quote", "ümlaut", "..", "007"]
            return difficult.compactMap { id in
                let answer = try? subject.dialect.answer(
                    subject.list([RemoteRecord(entity: subject.entity.name, id: id)]),
                    to: .query(RemoteQuery(entity: subject.entity)))
                guard case .page(let page)? = answer, page.records.map(\.id) == [id] else {
                    return Failure(law: .identities, message: "\"\(id)\" does not come back as it was sent")
                }
                return nil
            }
        }
    }
}
