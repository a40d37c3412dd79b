"""The adapters for LiteLLM, which translates OpenAI's API to that of every provider."""

import os

# Without this, LiteLLM downloads a list of prices when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from neutral import Answer, Call, counted, parsed

litellm.suppress_debug_info = True


def completion(model, question, name, base_url):
    messages = question.messages(
        user=lambda text: {"role": "user", "content": text},
        answer=lambda answer: answer.native,
        results=lambda results: [
            {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": text} for call, text in results
        ],
    )
    request = {
        "model": name,
        "api_base": base_url,
        "api_key": model.key,
        "messages": [{"role": "system", "content": question.system}, *messages],
        "tools": [{"type": "function", "function": tool} for tool in question.tools],
        "stream": question.stream,
    }
    if question.stream:
        request["stream_options"] = {"include_usage": True}
    answer = litellm.completion(**request)
    if question.stream:
        chunks = list(answer)
        if name.startswith("ollama"):
            number_calls(chunks)
        answer = litellm.stream_chunk_builder(chunks)
    [choice] = answer.choices
    calls = [Call(c.id, c.function.name, parsed(c.function.arguments)) for c in choice.message.tool_calls or []]
    usage = counted(answer.usage.prompt_tokens, answer.usage.completion_tokens)
    # LiteLLM replaces an empty text with its own words in requests to Anthropic, so send none.
    choice.message.content = choice.message.content or None
    return Answer(choice.message.content or "", calls, choice.finish_reason, usage, choice.message)


def number_calls(chunks):
    """Numbers the tool calls of Ollama's streams.

    LiteLLM gives each of them the index 0, also with Ollama itself, so its own chunk builder would merge them into one call.
    """
    ids = []
    for piece in [piece for chunk in chunks for c in chunk.choices for piece in c.delta.tool_calls or []]:
        if piece.id and piece.id not in ids:
            ids.append(piece.id)
        piece.index = len(ids) - 1


ADAPTERS = {
    "litellm, chat": lambda m, q: completion(m, q, "openai/gpt-4o-mini", m.openai),
    "litellm, anthropic": lambda m, q: completion(m, q, "anthropic/claude-sonnet-4-6", m.anthropic),
    "litellm, gemini": lambda m, q: completion(m, q, "gemini/gemini-3-flash-preview", m.gemini),
    "litellm, ollama": lambda m, q: completion(m, q, "ollama_chat/qwen3:8b", m.ollama),
}
