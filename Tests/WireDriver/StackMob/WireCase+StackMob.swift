import Foundation
import StrataStackMob

extension WireCase {
    /// The dialect with the settings that the case has.
    func dialect() throws(RemoteError) -> StackMobDialect {
        var dialect = try StackMobDialect(
            publicKey: text("publicKey") ?? (has("publicKey") ? "" : String(repeating: "0", count: 36)),
            apiVersion: text("apiVersion") ?? (has("apiVersion") ? "" : "0"))
        dialect.host = text("host", "apiHost") ?? dialect.host
        dialect.pushHost = text("pushHost") ?? dialect.pushHost
        dialect.userSchema = text("userSchema") ?? dialect.userSchema
        dialect.userPrimaryKeyField = text("userPrimaryKeyField", "userIdName") ?? dialect.userPrimaryKeyField
        dialect.userPasswordField = text("userPasswordField", "passwordFieldName") ?? dialect.userPasswordField
        dialect.sendsLocalTimestamps = flag("sendLocalTimestamps", "sendsLocalTimestamps") ?? false
        dialect.sdkVersion = text("sdkVersion") ?? dialect.sdkVersion
        dialect.deviceModel = text("deviceModel", "model", "device") ?? dialect.deviceModel
        dialect.systemVersion = text("systemVersion") ?? dialect.systemVersion
        dialect.localeIdentifier = text("localeIdentifier", "locale") ?? dialect.localeIdentifier
        return dialect
    }

    /// The request options that the case has.
    var options: RequestOptions {
        var options = RequestOptions()
        options.isSecure = flag("secure", "isSecure") ?? false
        if let retries = whole("numberOfRetries", "retries") { options.retries = min(max(retries, 0), 1000) }
        if let renews = flag("tryRefreshToken", "refreshAllowed", "renewsSession") { options.renewsSession = renews }
        for (name, value) in members["headers"]?.members ?? [:] { options.headers[name] = WireValues.text(value) }
        for (name, value) in members["requestHeaders"]?.members ?? [:] {
            options.headers[name] = WireValues.text(value)
        }
        if let depth = whole("expandDepth", "expand") { options.headers["X-StackMob-Expand"] = String(depth) }
        if let fields = texts("select", "selectFields", "restrictedFields") {
            options.headers["X-StackMob-Select"] = fields.joined(separator: ",")
        }
        return options
    }
}
