/** Descriptions of screens that the compiler must accept or refuse. `tsc -p admin-api/dashboard/client` checks them; nothing runs them. */
import type { Resource } from '../../../../admin-api/dashboard/client/resource/description.ts'

interface Draft {
  readonly name: string
  readonly url: string
  readonly types: readonly ('delivered' | 'bounced')[]
}

type Webhooks = Resource<'/v1/webhooks', Draft>
type Suppressions = Resource<'/v1/suppressions'>
type Form = NonNullable<Webhooks['form']>
type Create = NonNullable<Form['create']>

const said = (): string => 'x'

export const columns: Webhooks['columns'] = [
  { head: said, kind: 'name', cell: ({ name }) => name },
  // @ts-expect-error: no such field of a row
  { head: said, kind: 'text', cell: ({ title }) => title },
  // @ts-expect-error: no such kind
  { head: said, kind: 'money', cell: ({ name }) => name },
]

export const filters: Suppressions['filters'] = [
  { name: 'source', label: said, values: ['manual', 'bounce'] },
  { name: 'project_id', label: said, hint: said },
  // @ts-expect-error: no such filter
  { name: 'status', label: said, values: ['manual'] },
  // @ts-expect-error: no such value
  { name: 'source', label: said, values: ['phone'] },
]

export const fields: Form['fields'] = [
  { name: 'name', label: said, type: 'text' },
  { name: 'types', label: said, type: { tick: ['delivered'] } },
  // @ts-expect-error: no such field of the form
  { name: 'title', label: said, type: 'text' },
  // @ts-expect-error: a list needs ticks
  { name: 'types', label: said, type: 'text' },
  // @ts-expect-error: no such value
  { name: 'types', label: said, type: { tick: ['opened'] } },
]

export const bodies: readonly Create['body'][] = [
  ({ name, url }) => ({ name, target_url: url }),
  // @ts-expect-error: a field of the body is missing
  ({ name }) => ({ name }),
  // @ts-expect-error: a number in place of text
  ({ url }) => ({ name: 1, target_url: url }),
]

export const secrets: readonly NonNullable<Create['secret']>[] = [
  ({ hmac_secret: secret }) => ({ title: 'x', fields: [['hmac_secret', secret]], note: 'x' }),
  // @ts-expect-error: the answer has no such secret
  ({ api_key: secret }) => ({ title: 'x', fields: [['api_key', secret]], note: 'x' }),
]

// @ts-expect-error: no such path
export type Unknown = Resource<'/v1/webhook'>
// @ts-expect-error: the answer has no pages
export type NoPages = Resource<'/v1/traces/counts'>
// @ts-expect-error: the path has a parameter
export type Nested = Resource<'/v1/forms/{id}/versions'>
// @ts-expect-error: audit entries cannot be deleted
export const removal: Resource<'/v1/audit'>['remove'] = { label: said, done: said, how: { effects: () => [] } }
// @ts-expect-error: suppressions have no query by project
export const ofProject: Suppressions['isOfProject'] = true
