#if canImport(ObjectiveC)
    import Foundation

    // Foundation has an `UndoManager` only on Apple's systems.

    extension UndoHistory {
        /// Registers each undo of this history with the undo manager of a window or view, so that its menu items and gestures
        /// work on the context. Call it after edits, in the isolation of the context; it ends the step.
        ///
        ///     let manager = UndoManager()  // or that of a window
        ///     history.register(with: manager, actionName: "Rename City")
        public func register(with manager: UndoManager?, actionName: String? = nil) {
            guard let manager, canUndo else { return }
            if let actionName { setActionName(actionName) }
            registerUndo(with: manager)
        }

        private func registerUndo(with manager: UndoManager) {
            manager.registerUndo(withTarget: self) { [weak manager] history in
                // What cannot be undone now stays; the menu offers it again.
                _ = try? history.undo()
                if let manager { history.registerRedo(with: manager) }
            }
            if let name = undoActionName { manager.setActionName(name) }
        }

        private func registerRedo(with manager: UndoManager) {
            manager.registerUndo(withTarget: self) { [weak manager] history in
                _ = try? history.redo()
                if let manager { history.registerUndo(with: manager) }
            }
        }
    }
#endif
