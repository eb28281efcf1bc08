import React, { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';

const id = (location.hash ||= `#${crypto.randomUUID()}`).slice(1);
const transport = new DefaultChatTransport({ api: '/api/ai/chat', body: { agent: 'tasks' } });

function Page() {
  const { messages, sendMessage, regenerate, status, error } = useChat({ id, transport, resume: true });
  const [text, setText] = useState('');
  const stop = () => fetch(`/api/turns/${messages.at(-1).metadata.turnId}/stop`, { method: 'POST' });
  return (
    <main>
      {messages.map(message => (
        <section key={message.id}>
          <b>{message.role}</b>
          {message.parts.map((part, n) => {
            if (part.type === 'text') return <p key={n}>{part.text}</p>;
            if (part.type === 'dynamic-tool') return <p key={n}>⚙ {part.toolName}: {part.output?.summary ?? part.errorText ?? '…'}</p>;
          })}
        </section>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={event => { event.preventDefault(); sendMessage({ text }); setText(''); }}>
        <input aria-label="Message" value={text} onChange={event => setText(event.target.value)} />
        {status === 'ready' || status === 'error' ? <button>Send</button> : <button type="button" onClick={stop}>Stop</button>}
        <button type="button" onClick={() => regenerate()} disabled={status !== 'ready' || !messages.length}>Again</button>
      </form>
    </main>
  );
}

createRoot(document.getElementById('root')).render(<Page />);
