"""OpenTelemetry: OTLP files and requests -> spans -> one run a trace, whatever convention wrote each span."""
