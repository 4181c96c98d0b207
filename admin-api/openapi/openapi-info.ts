/** General information in the OpenAPI document: an introduction, and the rules of all operations. */
import type { Json } from './openapi-schemas.ts'

const description = `Postern is a mail relay for websites, applications and agents. It accepts a message, decides by your rules whether it is
relayed through one of your providers or captured in a virtual inbox, and keeps a trace of everything that happens to it.

**Send**: \`POST /v1/messages\` with \`from\`, \`to\`, \`subject\` and \`text\` or \`html\`. The response contains the trace id and the outcome:
\`relayed\`, or \`captured.*\` with the reason. \`GET /v1/traces/{trace_id}\` returns the complete record.

**Authentication**: \`Authorization: Bearer <API key>\`. Scopes include each other: \`api:read\`, \`api:send\`, \`api:admin\`. Access tokens
of the authorization server (\`/.well-known/oauth-authorization-server\`) are accepted as well. Publishable keys are safe in web pages and can
only send.

**Errors** have one shape: \`{"error": {"code", "message", "next_action", "details"}}\`. Branch on \`code\`; \`message\` is for people, and
\`next_action\` states what to do. \`validation_failed\` lists every field in \`details.fields\`. 429 and 503 carry \`Retry-After\`.

**Lists** take \`limit\` and \`cursor\` and return \`{"data": [...], "next_cursor": ...}\`; a null cursor marks the last page.

**Idempotency**: repeat a send with the same \`Idempotency-Key\` within 24 hours to get the first trace, with the response header
\`Idempotent-Replayed: true\`; nothing is sent twice.

**Formats**: JSON in UTF-8 with snake_case names; times are RFC 3339 in UTC. Unknown fields are refused in requests; responses may get new
fields. Every response has an \`X-Request-Id\`, which identifies the request in the log of the service.`

/** Returns the `info` object of the document. */
export const infoOf = ({ baseUrl, version }: { readonly baseUrl: string; readonly version: string }): Json => ({
  title: 'Postern',
  version,
  summary: 'Send mail through your own providers, capture it in sandboxes, and trace every message.',
  description: description.replaceAll(/(?<!\n)\n(?!\n)/g, ' '),
  contact: { name: 'The operator of this service', url: baseUrl },
  license: { name: 'MIT', identifier: 'MIT' },
})

/** Descriptions by tag. */
export const tagTexts: Readonly<Record<string, string>> = {
  account: 'The organization of a key, and the claim of an agent’s project by a person.',
  'api keys': 'Keys for servers, with scopes, for the whole organization or one project.',
  applications: 'Agents and other programs authorized by members for a project.',
  alerts: 'Channels that get alerts about findings: mail, chats and webhooks.',
  audit: 'Changes of settings, with author and time.',
  destinations: 'Your mail providers: SMTP servers and APIs, in sandbox or live mode.',
  diagnose: 'Causes of missing mail and of bounces.',
  domains: 'Sending domains: DNS records, DKIM keys and their verification.',
  events: 'Stream of changed lists.',
  findings: 'Problems that the service found, with their causes and fixes.',
  flags: 'Enabled features.',
  forms: 'Forms for web pages: drafts, versions and submissions.',
  'inbound routes': 'Incoming mail: accepted addresses, and the webhooks that receive the mail.',
  inboxes: 'Virtual inboxes: captured messages, to list, read, download and wait for.',
  ingest: 'Bounces, complaints and deliveries reported by providers and mail servers.',
  insights: 'Statistics over time: sends, recipients, latency, destinations, webhooks, suppressions.',
  inspect: 'Deliverability tests: send a message to an address and get a report on its expected rating by receivers.',
  members: 'People in the organization, their roles, and invitations.',
  messages: 'Sending, immediately or scheduled.',
  operator: 'For the operator of the service only.',
  organizations: 'Organizations of a team.',
  process: 'Health, metrics and this document.',
  projects: 'Workspaces within an organization, with budgets and caps.',
  'publishable keys': 'Keys that are safe in web pages: restricted to origins, recipients and one sender.',
  queue: 'The delivery queue: list, hold, release, expedite and drop messages.',
  replays: 'Sending failed messages again in bulk.',
  routing: 'Rules that select the destination of a message, failover, and a simulation of both.',
  sites: 'Managed websites: deploys of static files, previews, domains and usage.',
  'smtp credentials': 'Logins for software that sends by SMTP.',
  suppressions: 'Addresses that receive no mail.',
  templates: 'Saved subjects and bodies with variables, in versions.',
  traces: 'The history of a message: decisions, attempts, reports.',
  tracking: 'Opens and clicks.',
  usage: 'Usage and costs of the organization.',
  webhooks: 'Endpoints for events.',
}
