// Asking something from anywhere: in an open conversation it is the next message, elsewhere it begins a new one.
import { createContext, useContext } from 'react';
import { useLocation } from 'wouter';
import { useSessions } from './sessions';

type Ask = (text: string) => void;

/** Set by the conversation on screen. */
export const AskContext = createContext<Ask | null>(null);

export function useAsk(): Ask {
  const here = useContext(AskContext);
  const sessions = useSessions();
  const [, navigate] = useLocation();
  if (here) return here;
  return (text) => {
    sessions.newChat(null).send(text);
    navigate('/');
  };
}
