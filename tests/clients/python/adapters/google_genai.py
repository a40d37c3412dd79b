"""The adapter for Google's SDK."""

from google import genai
from google.genai import types
from neutral import Answer, Call, counted

FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}


def generate_content(model, question):
    client = genai.Client(api_key=model.key, http_options=types.HttpOptions(base_url=model.gemini))
    functions = [
        types.FunctionDeclaration(
            name=tool["name"], description=tool["description"], parameters_json_schema=tool["parameters"]
        )
        for tool in question.tools
    ]
    request = {
        "model": "gemini-3-flash-preview",
        "contents": question.messages(
            user=lambda text: types.Content(role="user", parts=[types.Part(text=text)]),
            answer=lambda answer: types.Content(role="model", parts=answer.native),
            results=lambda results: [types.Content(role="user", parts=[result(*found) for found in results])],
        ),
        "config": types.GenerateContentConfig(
            system_instruction=question.system, tools=[types.Tool(function_declarations=functions)]
        ),
    }
    if question.stream:
        responses = list(client.models.generate_content_stream(**request))
    else:
        responses = [client.models.generate_content(**request)]
    parts = [part for response in responses for part in response.candidates[0].content.parts or []]
    text = "".join(part.text or "" for part in parts if not part.thought)
    # Gemini sends no ids for calls, so their names and order identify them.
    calls = [p.function_call for p in parts if p.function_call]
    calls = [Call(call.id or f"{number}", call.name, call.args) for number, call in enumerate(calls)]
    reason = responses[-1].candidates[0].finish_reason.value
    finish = "tool_calls" if calls and reason == "STOP" else FINISH.get(reason, reason)
    usage = responses[-1].usage_metadata
    written = usage.candidates_token_count + (usage.thoughts_token_count or 0)
    return Answer(text, calls, finish, counted(usage.prompt_token_count, written), parts)


def result(call, text):
    return types.Part.from_function_response(name=call.name, response={"output": text})


ADAPTERS = {"google-genai": generate_content}
