import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The errors of ``URLSessionTransport``. Their domain is `URL`, their code that of `URLError`.
enum URLSessionFailure {
    static let domain = "URL"

    static var cancelled: RemoteError {
        RemoteError(
            .cancelled, domain: domain, code: URLError.Code.cancelled.rawValue,
            message: "the task was cancelled; the request may have been carried out")
    }

    static func timeout(after seconds: Double) -> RemoteError {
        RemoteError(
            .timeout, domain: domain, code: URLError.Code.timedOut.rawValue,
            message: "no answer within \(seconds) seconds; try again, or allow more time")
    }

    static func noAddress(_ text: String) -> RemoteError {
        RemoteError(
            .invalidRequest, domain: domain, code: URLError.Code.badURL.rawValue,
            message: "\(text) is no HTTP address; give scheme, host and port of the server")
    }

    static func tooLong(_ limit: Int) -> RemoteError {
        RemoteError(
            .invalidAnswer, domain: domain, code: URLError.Code.dataLengthExceedsMaximum.rawValue,
            message: "the answer has more than \(limit) bytes; ask for fewer objects, or raise the transport's maximum")
    }

    static var noAnswer: RemoteError {
        RemoteError(
            .invalidAnswer, domain: domain, code: URLError.Code.badServerResponse.rawValue,
            message: "the server's answer is no HTTP")
    }

    static func error(for error: any Error) -> RemoteError {
        guard let error = error as? URLError else {
            return RemoteError(.unreachable, domain: domain, message: "no answer: \(error)")
        }
        let kind: RemoteError.Kind =
            switch error.code {
            case .cancelled: .cancelled
            case .timedOut: .timeout
            case .badURL, .unsupportedURL: .invalidRequest
            case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
                .zeroByteResource, .dataLengthExceedsMaximum, .httpTooManyRedirects,
                .redirectToNonExistentLocation:
                .invalidAnswer
            // Nobody gets through to a server that cannot prove who it is, now or later.
            case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
                .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired:
                .invalidAnswer
            default: .unreachable
            }
        return RemoteError(
            kind, domain: domain, code: error.code.rawValue, message: "no answer: \(error.localizedDescription)")
    }
}
