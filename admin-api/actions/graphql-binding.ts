/** What an action says of GraphQL: the field of the schema that runs it. */

export interface GraphqlBinding {
  /** Name of the field. */
  readonly field: string
  /** Of queries those that read, and of mutations all others. */
  readonly root: 'query' | 'mutation'
  /** Fields of the input that are second names of others. */
  readonly without?: readonly string[]
  /** Fields that the action could do without, but not without their second names too. */
  readonly required?: readonly string[]
}

/** Where a resource or an action of it differs from the custom: the field has the name of the action, without `list` or `get`. */
export type GraphqlFacts = Partial<GraphqlBinding>

/** What one and several of a resource are called in names of fields. */
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
