#if Server
    import StrataWire

    extension ObjectBody {
        /// A body of StackMob: `"likes[inc]": 1` counts. Beyond it, `"tags[add]": ["a"]` and the like change arrays.
        init(stackMob members: JSONObject) {
            self.init(members)
            for (name, value) in members.sorted(by: { $0.name < $1.name }) {
                guard let (field, suffix) = FieldSuffix.split(name) else { continue }
                values[name] = nil
                // A single element is an array of one, as in the paths of fields.
                let elements = value.elements ?? [value]
                let change: FieldChange =
                    switch suffix {
                    case .increment: .increment(value)
                    case .append: .add(elements)
                    case .appendUnique: .addUnique(elements)
                    case .remove: .remove(elements)
                    }
                changes.append((field, change))
            }
        }
    }
#endif
