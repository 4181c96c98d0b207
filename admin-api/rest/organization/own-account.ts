/** The account of the signed-in person: name, passkeys and sessions. Only sessions are accepted; an organization is not necessary. */
import assert from 'node:assert'
import { action, type Action, type Client } from '../../actions/action.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'
import { browserTitle } from '#config/texts/browser-name.ts'
import { noInput } from '../../wire/fields/text.ts'
import {
  account,
  accountChanges,
  allPasskeys,
  allSessions,
  endedSessions,
  longId,
  newPasskey,
  passkey,
  passkeyOptions,
  session as sessionEncoder,
  type AccountView,
} from '../../wire/organization/account.ts'
import type { RestCore } from '../rest-core.ts'

const shared = { tags: ['account'], scope: 'person' } as const

function signedInOf({ signedIn }: Client): SignedIn {
  assert(signedIn, 'an action of a person has a signed-in person')
  return signedIn
}

const viewOf = ({ sessions, passkeys }: RestCore['people'], { user, session }: SignedIn): AccountView => ({
  user,
  passkeysAvailable: passkeys.areAvailable,
  confirmedForMs: sessions.confirmedForMs(session),
})

const ofPerson: readonly Action<RestCore>[] = [
  action({
    ...shared,
    id: 'getAccount',
    summary: 'Get the account of the signed-in person',
    input: noInput,
    output: account,
    http: { method: 'GET', path: '/v1/account' },
    run: ({ core, client }) => viewOf(core.people, signedInOf(client)),
  }),
  action({
    ...shared,
    id: 'updateAccount',
    summary: 'Change the name of the signed-in person',
    input: accountChanges,
    output: account,
    examples: { input: { name: 'Ada Meier' } },
    http: { method: 'PATCH', path: '/v1/account' },
    async run({ core, client }, { name }) {
      const { user, ...rest } = signedInOf(client)
      return viewOf(core.people, { ...rest, user: { ...user, name: await core.people.accounts.rename(user, name) } })
    },
  }),
]

const passkeys: readonly Action<RestCore>[] = [
  action({
    ...shared,
    id: 'listPasskeys',
    summary: 'List the passkeys of the signed-in person',
    description: 'Oldest first. All passkeys are on one page: `next_cursor` is always null.',
    input: noInput,
    output: allPasskeys,
    list: { item: passkey },
    http: { method: 'GET', path: '/v1/account/passkeys' },
    run: ({ core, client }) => core.people.passkeys.list(signedInOf(client).user.id),
  }),
  action({
    ...shared,
    id: 'createPasskeyOptions',
    summary: 'Get the options for a new passkey',
    description: 'For `navigator.credentials.create()`. Requires a session that was confirmed in the last 10 minutes.',
    errors: ['feature_disabled'],
    input: noInput,
    output: passkeyOptions,
    http: { method: 'POST', path: '/v1/account/passkeys/options' },
    async run({ core, client }) {
      const { user, session } = signedInOf(client)
      core.people.sessions.requireFresh(session)
      return { options: JSON.parse(await core.people.passkeys.creationOptions(user)) as Record<string, unknown> }
    },
  }),
  action({
    ...shared,
    id: 'createPasskey',
    summary: 'Add a passkey',
    description: 'Requires a session that was confirmed in the last 10 minutes. At most 20 passkeys. The person gets a mail about it.',
    errors: ['conflict', 'feature_disabled'],
    input: newPasskey,
    output: passkey,
    http: { method: 'POST', path: '/v1/account/passkeys', status: 201 },
    run({ core, client }, { response }) {
      const { user, session } = signedInOf(client)
      return core.people.passkeys.register(user, session, browserTitle(client.userAgent ?? ''), JSON.stringify(response))
    },
  }),
  action({
    ...shared,
    id: 'deletePasskey',
    summary: 'Remove a passkey',
    description: 'Requires a session that was confirmed in the last 10 minutes. A missing passkey is not an error.',
    input: longId,
    http: { method: 'DELETE', path: '/v1/account/passkeys/{id}' },
    async run({ core, client }, { id }) {
      const { user, session } = signedInOf(client)
      await core.people.passkeys.remove(user, session, id)
    },
  }),
]

const sessions: readonly Action<RestCore>[] = [
  action({
    ...shared,
    id: 'listSessions',
    summary: 'List the sessions of the signed-in person',
    description: 'Most recently seen first. All sessions are on one page: `next_cursor` is always null.',
    input: noInput,
    output: allSessions,
    list: { item: sessionEncoder },
    http: { method: 'GET', path: '/v1/account/sessions' },
    async run({ core, client }) {
      const { user, session } = signedInOf(client)
      return (await core.people.sessions.list(user.id)).map((one) => ({ ...one, isCurrent: one.id === session.id }))
    },
  }),
  action({
    ...shared,
    id: 'deleteOtherSessions',
    summary: 'End all other sessions of the signed-in person',
    input: noInput,
    output: endedSessions,
    http: { method: 'DELETE', path: '/v1/account/sessions' },
    async run({ core, client }) {
      const { user, session } = signedInOf(client)
      return { ended: await core.people.accounts.endOtherSessions(user, session) }
    },
  }),
  action({
    ...shared,
    id: 'deleteSession',
    summary: 'End a session of the signed-in person',
    description: 'A missing session is not an error.',
    input: longId,
    http: { method: 'DELETE', path: '/v1/account/sessions/{id}' },
    run: ({ core, client }, { id }) => core.people.accounts.endSession(signedInOf(client).user, id),
  }),
]

export const ownAccountActions: readonly Action<RestCore>[] = [...ofPerson, ...passkeys, ...sessions]
