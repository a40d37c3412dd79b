"""A small, typical agent behind FastAPI. It creates its model client when the module is imported."""

import json

from fastapi import Body, FastAPI
from openai import OpenAI, OpenAIError

app, client = FastAPI(), OpenAI()
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": CITY}}
WEATHER = {"Rome": "The sun shines in Rome."}


@app.post("/chat")
def chat(message: str = Body(embed=True)):
    messages = [{"role": "user", "content": message}]
    try:
        while True:
            completion = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=[TOOL])
            said = completion.choices[0].message
            if not said.tool_calls:
                return {"text": said.content}
            messages.append(said.model_dump(exclude_none=True))
            for call in said.tool_calls:
                result = WEATHER[json.loads(call.function.arguments)["city"]]
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    except OpenAIError:
        return {"text": "Something went wrong, please try again."}
