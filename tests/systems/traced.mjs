// Sends the spans of the AI SDK as JSON to where OTEL_EXPORTER_OTLP_ENDPOINT says: `node --import ./traced.mjs app.mjs`.
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())] });
provider.register();
process.on('SIGTERM', () => provider.shutdown().finally(() => process.exit(0)));
