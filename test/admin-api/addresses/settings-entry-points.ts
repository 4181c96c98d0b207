/** Entry points for addresses of settings. */
import { loadConfig } from '#config/settings/load.ts'
import { trimInvisible } from '#config/mail/invisible.ts'
import { loginLink } from '../../../daemon/commands/login-link-command.ts'
import type { Fixture } from '../rest/fixture/rest-fixture.ts'
import type { Calls, Entry } from './entry.ts'

export async function settingsEntryPoints({ rest }: Fixture, calls: Calls, destination: string): Promise<Readonly<Record<string, Entry>>> {
  const schema = { version: 1, fields: [{ key: 'email', type: 'email', label: 'Email' }] }
  const { id: form } = await rest.must('POST', '/v1/forms', { name: 'Other', definition: { name: 'Other', schema } })
  const login = await rest.must('POST', '/v1/smtp-credentials', { label: 'notices' })
  const key = { allowed_origins: ['https://example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' }
  const put = { method: 'PUT' } as const
  const patch = { method: 'PATCH' } as const
  return {
    invitations: calls('/v1/invitations', (email) => ({ email, role: 'viewer' })),
    'default From': calls(`/v1/destinations/${destination}`, (from) => ({ from }), patch),
    'default From with a name': calls(`/v1/destinations/${destination}`, (from) => ({ from: `Shop <${from}>` }), { ...patch, clean: asIs }),
    'failure notices': calls(`/v1/smtp-credentials/${String(login['id'])}`, (to) => ({ failure_notice_to: to }), patch),
    'virtual inboxes': releasing(
      rest,
      calls('/v1/inboxes', (pattern) => ({ address_pattern: pattern })),
    ),
    'publishable keys': calls('/v1/publishable-keys', (from) => ({ ...key, locked_from: from })),
    'recipients of publishable keys': calls('/v1/publishable-keys', (to) => ({ ...key, allowed_to: [to] })),
    'routing rules': calls('/v1/routing/rules', (from) => ({ match: { from }, destination_id: destination })),
    'form notifications': calls(`/v1/forms/${String(form)}/notifications`, (email) => ({ recipients: [{ email }] }), put),
    'sender of form notifications': calls(`/v1/forms/${String(form)}/notifications`, (from) => ({ from }), put),
    'login-link': { clean: trimInvisible, ask: linkFor },
  }
}

const asIs = (text: string): string => text

/** Deletes each created resource, since a project may have only a few. */
function releasing(rest: Fixture['rest'], entry: Entry): Entry {
  return {
    ...entry,
    async ask(text) {
      const refusal = await entry.ask(text)
      if (refusal === undefined) for await (const { id } of rest.rows('/v1/inboxes')) await rest.call('DELETE', `/v1/inboxes/${String(id)}`)
      return refusal
    },
  }
}

/** The command, which validates the address before it opens its data. */
const linkFor = (email: string): Promise<string | undefined> =>
  loginLink(
    loadConfig({ env: { POSTERN_DATA_DIR: '/nowhere' }, readFile: () => '' }),
    { email, next: undefined },
    { write: () => true },
  ).then(
    () => undefined,
    (error: unknown) => (String(error).includes('There is no data') ? undefined : String(error)),
  )
