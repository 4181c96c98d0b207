/** The agent tool (MCP) of an action: its name, its description for models, and its arguments. */

/** The groups of tools, in the order of the list; clients can request individual groups. */
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

/** The scopes of agents; each scope includes the previous scopes (spec "Authentication" 1). */
export const toolScopes = ['mcp:read', 'mcp:send-sandbox', 'mcp:send', 'mcp:admin'] as const
export type ToolScope = (typeof toolScopes)[number]

/** Hints that clients may show before a call, and use to decide whether to ask their user. */
export interface ToolHints {
  /** Changes nothing. Defaults to true for actions with the scope `api:read`. */
  readonly readOnly?: boolean
  /** Deletes or replaces data. */
  readonly destructive?: boolean
  /** Repeating the call has no further effect. */
  readonly idempotent?: boolean
  /** Reaches systems beyond this service: providers, DNS, recipients. */
  readonly openWorld?: boolean
}

export interface ToolBinding {
  /** Name from the specification. */
  readonly name: string
  readonly toolset: Toolset
  /** At most 60 words: effect, alternative tools, side effect, and next step. It does not repeat the hints. */
  readonly description: string
  /** The arguments, mapped to fields of the input if the names differ. Defaults to all fields. */
  readonly arguments?: readonly string[] | Readonly<Record<string, string>>
  /** Arguments required by the tool although they are optional in the action. */
  readonly required?: readonly string[]
  /** Fixed values of fields without an argument, if the default does not apply. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** Defaults to the scope that matches the action's: `mcp:read` for `api:read`, and so on. */
  readonly scope?: ToolScope
  readonly hints?: ToolHints
  /** Fields of the result with secrets that are shown once. They are removed from the text for the model. */
  readonly secrets?: readonly string[]
  /** Fields with links to secrets: the model passes them on, and must not open or show them. */
  readonly secretLinks?: readonly string[]
  /** Fields of the result, at any depth, with text of others: mails, replies of servers. `records.found` is the field in `records`. */
  readonly untrusted?: readonly string[]
  /** The resource that the result describes: `email://traces/{trace_id}`, with a field of the result. */
  readonly resource?: string
  /** A field of the result with URLs of files. */
  readonly links?: string
  /** The tool affects the whole organization. A project token reaches it only if its user allowed organization settings. */
  readonly reachesOrganization?: boolean
}
