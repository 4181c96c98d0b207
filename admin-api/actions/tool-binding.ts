/** What an action says of the agent tool that calls it (MCP): its name, what a model must know of it, and which fields it takes. */

/** The groups of tools, in the order in which they are listed; a client can ask for some of them alone. */
export const toolsets = [
  'account',
  'setup',
  'send',
  'templates',
  'scheduled',
  'inbound',
  'operate',
  'bounces',
  'smtp',
  'partitions',
  'webhooks',
  'inboxes',
  'destinations',
  'publishable-keys',
  'forms',
] as const
export type Toolset = (typeof toolsets)[number]

/** The scopes of agents, each including those before it (spec "Authentication" 1). */
export const toolScopes = ['mcp:read', 'mcp:send-sandbox', 'mcp:send', 'mcp:admin'] as const
export type ToolScope = (typeof toolScopes)[number]

/** What clients may show before a call, and what decides whether they ask their user. */
export interface ToolHints {
  /** Changes nothing; by default so where the action needs no more than `api:read`. */
  readonly readOnly?: boolean
  /** Takes something away or replaces it. */
  readonly destructive?: boolean
  /** The same call again has no further effect. */
  readonly idempotent?: boolean
  /** Reaches systems beyond this service: providers, DNS, recipients. */
  readonly openWorld?: boolean
}

export interface ToolBinding {
  /** As the specification names it. */
  readonly name: string
  readonly toolset: Toolset
  /** At most 60 words: what it does, when to use another tool instead, its side effect, and the next step. */
  readonly description: string
  /** Its arguments and the fields of the input that they are, where the two have different names; by default all fields. */
  readonly arguments?: readonly string[] | Readonly<Record<string, string>>
  /** Arguments that the action could do without. */
  readonly required?: readonly string[]
  /** Fields that no argument is for, where their default is not meant. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** By default that of the action's own: `api:read` is `mcp:read`, and so on. */
  readonly scope?: ToolScope
  readonly hints?: ToolHints
  /** Fields of the result with secrets that are shown once. They are kept out of the text that goes to the model. */
  readonly secrets?: readonly string[]
  /** Fields with links to secrets: the model passes them on, and must not open or show them. */
  readonly secretLinks?: readonly string[]
  /** Fields of the result, at any depth, in which others wrote: mails, replies of servers. `records.found` is the one in `records`. */
  readonly untrusted?: readonly string[]
  /** The resource that the result is about: `email://traces/{trace_id}`, with a field of the result. */
  readonly resource?: string
  /** A field of the result with addresses of files. */
  readonly links?: string
  /** It concerns the whole organization. A token of one project reaches that only if its user allowed settings of the organization. */
  readonly reachesOrganization?: boolean
}
