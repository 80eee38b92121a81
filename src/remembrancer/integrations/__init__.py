"""The memory behind the interfaces of agent frameworks. Each module needs the framework whose name it has."""
