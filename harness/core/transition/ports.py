    violations: tuple[Violation, ...] = ()
    purpose: Purpose | Literal[""] = ""
    unread: bool = False
