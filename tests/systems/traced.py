"""Runs an agent in the current folder with its framework's own instrumentation: `traced.py FRAMEWORK PORT`. The spans go where
OTEL_EXPORTER_OTLP_ENDPOINT says."""

import os
import sys

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

framework, port = sys.argv[1:]
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
sys.path.insert(0, os.getcwd())
from app import app  # noqa: E402

if framework == "pydantic_ai":
    from pydantic_ai import Agent

    Agent.instrument_all()
elif framework == "openai_agents":
    from agents import set_tracing_disabled
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    set_tracing_disabled(False)  # the app disables it
else:
    sys.exit(f"no instrumentation for {framework}")

import uvicorn  # noqa: E402

uvicorn.run(app, port=int(port), log_level="warning")
