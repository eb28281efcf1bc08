// The agents that the server lists in `/api/about`. What the page shows for one depends on its tools, not on its id.
import { Bot, ListTodo, Music2, type LucideIcon } from 'lucide-react';
import { useAbout } from '../api/queries';
import type { AgentAbout, AgentId } from '../api/types';

/** `null`: the one that the server takes when none is named, which is the first. Undefined while the list is not known. */
export function useAgent(id: AgentId | null): AgentAbout | undefined {
  const { data: about } = useAbout();
  return id === null ? about?.agents[0] : about?.agents.find((agent) => agent.id === id);
}

/** The address of a new conversation with an agent. */
export const newChatWith = (agent: AgentId): string => `/?agent=${encodeURIComponent(agent)}`;

export const searchesLibrary = (agent: AgentAbout | undefined): boolean => hasTool(agent, 'semanticSearch');
export const keepsTasks = (agent: AgentAbout | undefined): boolean => hasTool(agent, 'list_tasks');

export function iconOf(agent: AgentAbout | undefined): LucideIcon {
  if (keepsTasks(agent)) return ListTodo;
  return searchesLibrary(agent) ? Music2 : Bot;
}

function hasTool(agent: AgentAbout | undefined, tool: string): boolean {
  return agent?.tools?.includes(tool) ?? false;
}
