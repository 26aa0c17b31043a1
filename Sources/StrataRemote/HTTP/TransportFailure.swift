import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The errors that every transport has. Their domain is `URL` and their codes are those of `URLError`, whatever carries
/// the requests.
package enum TransportFailure {
    /// The domain of all of them.
    package static let domain = "URL"

    /// The task ended before the answer was there.
    package static var cancelled: RemoteError {
        RemoteError(
            .cancelled, domain: domain, code: URLError.Code.cancelled.rawValue,
            message: "the task was cancelled; the request may have been carried out")
    }

    /// The deadline came first.
    package static func timeout(after seconds: Double) -> RemoteError {
        RemoteError(
            .timeout, domain: domain, code: URLError.Code.timedOut.rawValue,
            message: "no answer within \(seconds) seconds; try again, or allow more time")
    }

    /// A text that leads nowhere.
    package static func noAddress(_ text: String) -> RemoteError {
        RemoteError(
            .invalidRequest, domain: domain, code: URLError.Code.badURL.rawValue,
            message: "\(text) is not an HTTP address; give scheme, host and port of the server")
    }

    /// A body beyond the limit.
    package static func tooLong(_ limit: Int) -> RemoteError {
        RemoteError(
            .invalidAnswer, domain: domain, code: URLError.Code.dataLengthExceedsMaximum.rawValue,
            message: "the answer has more than \(limit) bytes; ask for fewer objects, or raise the transport's maximum")
    }

    /// Bytes that are not HTTP.
    package static var noAnswer: RemoteError {
        RemoteError(
            .invalidAnswer, domain: domain, code: URLError.Code.badServerResponse.rawValue,
            message: "the server's answer is not HTTP")
    }

    /// Any other reason.
    package static func failure(_ kind: RemoteError.Kind, _ code: URLError.Code, _ reason: String) -> RemoteError {
        RemoteError(kind, domain: domain, code: code.rawValue, message: "no answer: \(reason)")
    }

    /// How long a transport waits: a time that its clock can count.
    package static func seconds(_ timeout: Double) -> Double { timeout.isFinite ? min(max(timeout, 0.001), 1e8) : 1e8 }
}

extension WireRequest {
    /// The address as text. Characters that a URI may not contain are percent-encoded; see ``URLSessionTransport``.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/invalidRequest`` if it is not a valid address.
    package func address() throws(RemoteError) -> String {
        guard let scheme = head.scheme, scheme == "http" || scheme == "https", let authority = head.authority,
            !authority.isEmpty
        else {
            throw TransportFailure.noAddress("\(head.scheme ?? "nil")://\(head.authority ?? "nil")")
        }
        var path = head.path ?? ""
        if !path.isEmpty, !path.hasPrefix("/"), !path.hasPrefix("?") { path = "/" + path }
        return "\(scheme)://\(authority)\(Self.encodingForbidden(in: path))"
    }

    /// Leaves percent signs alone: `URL`'s own encoding would encode those again as soon as there is a single character
    /// that it does not take.
    private static func encodingForbidden(in path: String) -> String {
        path.utf8.allSatisfy(allowed.contains) ? path : PercentEncoding.encode(path, keeping: allowed)
    }

    private static let allowed = PercentEncoding.Characters.unreserved.union(":/?@!$&'()*+,;=%")
}
