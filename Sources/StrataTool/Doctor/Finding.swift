/// One thing that `strata doctor` has checked, as it prints it. Its stored properties are the members of the JSON.
struct Finding: Encodable, Equatable {
    /// How much it matters.
    enum Severity: String, Encodable {
        /// It is as it should be.
        case ok
        /// It works, but needs attention.
        case warning
        /// Something does not work, or data may be lost.
        case error
    }

    /// What was checked: `environment`, or the kind and path of a file.
    let subject: String
    /// A short name of the check, for scripts: `integrity`, `writeAheadLog`.
    let check: String
    let severity: Severity
    /// What was found.
    let message: String
    /// What to do; nil if nothing needs to be done.
    let advice: String?
}
