// What adapters take and give, in no SDK's words.
//
// Question: { system, tools, stream, steps }. A step is one of { user: text }, { answer } and
// { results: [{ call, text }] }.
// Answer: { text, calls: [{ id, name, args }], finish, usage: { input, output }, native }. `finish` is `stop`,
// `tool_calls` or `length`; an SDK's own word where it is another, which no fixture has. `native` is what a program keeps
// of the answer, to send it back.

/** The steps in an SDK's words: `user` and `answer` give a message each, `results` a list of them. */
export function messages(question, { user, answer, results }) {
  return question.steps.flatMap((step) => {
    if (step.user !== undefined) return [user(step.user)];
    return step.answer ? [answer(step.answer)] : results(step.results);
  });
}

export function counted(input, output) {
  return { input, output };
}
