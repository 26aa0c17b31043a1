import Foundation

extension ValidationPlan {
    /// A slot with rules on its values, or with an enumeration or a type of elements that they belong to.
    struct RuledSlot: Sendable {
        let slot: Int
        let rules: ValidationRules

        /// Checks a value, which has the type of the slot.
        /// - Parameter report: Takes each rule that the value breaks, and what is wrong.
        func check(
            _ value: Value, _ slot: SlotDescription, _ report: (ValidationFailure.Rule, String) -> Void
        ) {
            guard !value.isNull else { return }
            if let enumeration = slot.enumeration, !enumeration.contains(value) {
                report(.enumeration, "\(value) is not the raw value of a case of \(enumeration.name)")
            }
            if let element = slot.type?.element {
                guard case .list(let elements) = value else {
                    return report(.element, "\(value) is not an array; set another value")
                }
                if let index = element.firstMisfit(in: elements) {
                    report(
                        .element,
                        "the element \(elements[index]) at position \(index) cannot be kept as \(element.name); remove it"
                    )
                }
            }
            if let least = rules.minimum, ValueComparison.order(value, least) == .orderedAscending {
                report(.minimum, "\(value) is less than \(least)")
            }
            if let most = rules.maximum, ValueComparison.order(value, most) == .orderedDescending {
                report(.maximum, "\(value) is greater than \(most)")
            }
            checkLength(of: value, report)
            guard let pattern = rules.pattern, case .string(let text) = value else { return }
            do throws(PredicateEvaluationError) {
                if try !RegularExpressions.shared.matches(text, pattern, []) {
                    report(.pattern, "\(value) does not match \(pattern)")
                }
            } catch {
                report(.pattern, "\(error)")
            }
        }

        /// What the first rule says that a value breaks.
        func firstFault(of value: Value, _ slot: SlotDescription) -> String? {
            var first: String?
            check(value, slot) { first = first ?? $1 }
            return first
        }

        private func checkLength(of value: Value, _ report: (ValidationFailure.Rule, String) -> Void) {
            guard rules.minimumLength != nil || rules.maximumLength != nil else { return }
            let length: Int
            switch value {
            case .string(let text): length = text.count
            case .binary(let data): length = data.count
            case .list(let elements): length = elements.count
            default: return
            }
            if let least = rules.minimumLength, length < least {
                report(.minimumLength, "has length \(length); at least \(least) is required")
            }
            if let most = rules.maximumLength, length > most {
                report(.maximumLength, "has length \(length); at most \(most) is allowed")
            }
        }
    }
}
