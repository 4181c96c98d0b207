/** Agents and other applications: connecting one, those with access, and sandboxes that wait. */
import { number } from '../parts/time.ts'
export const en = {
  say: (count: number) =>
    count === 0 ? 'No application has access.' : count === 1 ? 'One application has access.' : `${number(count)} applications have access.`,
  sayText: 'Agents and other programs ask a person first, work in one project, and never exceed the role of who let them in.',
  failed: 'Applications cannot be shown.',
  noneText: 'Connect an agent with the address on this page. It opens a page on which you choose a project and what it may do.',
  application: 'Application',
  unverified: 'name not verified',
  allowedBy: 'Allowed by',
  lastCall: 'Last call',
  neverCalled: 'not yet',
  revoke: 'Revoke',
  revokeNamed: (name: string) => `Revoke ${name}`,
  revokeTitle: (name: string) => `Revoke the access of ${name}`,
  revokeEffect: (project: string) => `All of its tokens for the project ${project} end at once. To come back it has to ask again.`,
  revokeKeys: 'API keys that it created end with it.',
  revokeStays: 'SMTP logins and publishable keys that it created stay: review them.',
  revoked: (name: string, keys: number) =>
    keys === 0
      ? `${name} has no access any more.`
      : `${name} and ${keys === 1 ? 'one key' : `${number(keys)} keys`} of it have no access any more.`,
  connect: 'Connect an agent',
  connectText: 'Give the agent this address as a remote MCP server. Nothing is installed, and no key is copied.',
  address: 'MCP address',
  client: 'Client',
  otherClient: 'JSON',
  inFile: (file: string) => `In ${file}:`,
  inTerminal: 'In a terminal:',
  waiting: 'Agents that wait for you',
  waitingText: (email: string) =>
    `An agent works in a sandbox and asked ${email} to take it over. Attach it only when it shows the same code.`,
  noneWaiting: (email: string) => `No agent has asked for ${email} in the last 30 minutes.`,
  askedAt: (at: string) => `asked ${at}`,
  attach: 'Attach',
  attachCode: (code: string) => `Attach ${code}`,
  haveCode: 'I have a code',
  code: 'Code',
  codeHint: 'Only a code that your own agent shows, such as KITE-4207.',
} as const
