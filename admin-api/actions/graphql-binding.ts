/** The GraphQL field that runs an action. */

export interface GraphqlBinding {
  /** Name of the field. */
  readonly field: string
  /** `query` for reading actions, `mutation` for all others. */
  readonly root: 'query' | 'mutation'
  /** Fields of the input that are aliases of others. */
  readonly without?: readonly string[]
  /** Fields that are optional in the action but required here, since their aliases are removed. */
  readonly required?: readonly string[]
}

/** Differences of a resource or an action from the standard: the field has the name of the action, without `list` or `get`. */
export type GraphqlFacts = Partial<GraphqlBinding>

/** Singular and plural of a resource in field names. */
export interface GraphqlNoun {
  readonly one: string
  readonly many: string
}

/** `listWebhooks` is `webhookEndpoints`, `getWebhook` is `webhookEndpoint`, `createWebhook` is `createWebhookEndpoint`. */
export function customField(id: string, { name, plural }: { readonly name: string; readonly plural: string }, noun: GraphqlNoun): string {
  const renamed = id.includes(plural) ? id.replace(plural, noun.many) : id.replace(name, noun.one)
  const bare = renamed.replace(/^(?:list|get)(?=[A-Z])/, '')
  return bare.charAt(0).toLowerCase() + bare.slice(1)
}
