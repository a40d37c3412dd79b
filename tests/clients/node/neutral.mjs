// What adapters take and return, in a form that does not depend on any SDK.
//
// Question: { system, tools, stream, steps }. A step is one of { user: text }, { answer } and
// { results: [{ call, text }] }.
// Answer: { text, calls: [{ id, name, args }], finish, usage: { input, output }, native }. `finish` is `stop`,
// `tool_calls` or `length`; any other reason keeps the SDK's own word, but no fixture has one. `native` is what a program
// keeps of the answer to send it back in the next request.

/** Returns the steps as messages of an SDK. `user` and `answer` return one message, `results` returns a list of messages. */
export function messages(question, { user, answer, results }) {
  return question.steps.flatMap((step) => {
    if (step.user !== undefined) return [user(step.user)];
    return step.answer ? [answer(step.answer)] : results(step.results);
  });
}

export function counted(input, output) {
  return { input, output };
}
