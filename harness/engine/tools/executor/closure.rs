//! A tool that is a Rust closure in this process.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::Value;

use super::json;
use super::targets::Target;
use crate::tools::observed::Observed;
use retake_core::json::Json;

type Function = dyn Fn(Value) -> BoxFuture<'static, Result<Value, String>> + Send + Sync;

/// A function that takes a tool's arguments and returns its result or its error.
pub(crate) struct Closure(Box<Function>);

impl Closure {
    pub(crate) fn new<F, T>(function: F) -> Closure
    where
        F: Fn(Value) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Value, String>> + Send + 'static,
    {
        Closure(Box::new(move |args| function(args).boxed()))
    }
}

impl Target for Closure {
    fn call<'a>(&'a self, _: &'a str, args: &'a Json) -> BoxFuture<'a, Vec<Observed>> {
        async move {
            let args = serde_json::to_value(args).unwrap_or(Value::Null);
            match (self.0)(args).await {
                Ok(value) => Observed::of_value(json(&value)),
                Err(error) => vec![Observed::error(error)],
            }
        }
        .boxed()
    }
}
