// A chat page with the AI SDK's `useChat`, as in its documentation but without JSX. It shows the agent's text and its tool calls.
import { useChat } from '@ai-sdk/react';
import { createElement as h, useState } from 'react';
import { createRoot } from 'react-dom/client';

function part(part, index) {
  if (part.type === 'text') return h('p', { key: index }, part.text);
  if (!part.type.startsWith('tool-')) return null;
  const done = part.state === 'output-available' ? part.output : '…';
  return h('p', { key: index, 'data-testid': part.toolCallId }, `${part.type.slice(5)} ${part.input?.city ?? ''}: ${done}`);
}

function Chat() {
  const { messages, sendMessage, status, error } = useChat();
  const [text, setText] = useState('');
  const send = (event) => {
    event.preventDefault();
    sendMessage({ text });
    setText('');
  };
  return h('main', null,
    h('h1', null, 'The weather'),
    h('ol', { 'aria-label': 'Messages' },
      messages.map((message) => h('li', { key: message.id, className: message.role }, message.parts.map(part)))),
    error && h('p', { role: 'alert' }, 'Something went wrong.'),
    h('form', { onSubmit: send },
      h('label', null, 'Question ',
        h('input', { value: text, onChange: (event) => setText(event.target.value) })),
      h('button', { disabled: status !== 'ready' }, 'Ask')));
}

createRoot(document.getElementById('root')).render(h(Chat));
