//! Tests of the importers of traces.
