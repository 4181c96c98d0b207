/** The account of a signed-in person on the wire: name, passkeys and sessions. */
import * as z from 'zod'
import { browserName } from '#config/texts/browser-name.ts'
import type { Passkey } from '#core/people/sign-in/passkey.ts'
import { signInMethods, type Session } from '#core/people/sign-in/session.ts'
import { maxUserName, type User } from '#core/people/users/user.ts'
import { encoder } from '../fields/codec.ts'
import { pageEncoder } from '../fields/paging.ts'
import { orNull, toWireTime, wireTime } from '../fields/time.ts'

const accountShape = z
  .object({
    id: z.string(),
    email: z.string().meta({ description: 'The address for signing in. It cannot be changed.' }),
    name: z.string().meta({ description: 'Empty until the person enters it.' }),
    passkeys_available: z.boolean().meta({ description: 'Browsers support passkeys only over https or on localhost.' }),
    confirmed_for_seconds: z.int().meta({
      description: 'Remaining time in which this session can change passkeys, members and keys. 0 requires another sign-in.',
    }),
  })
  .meta({ id: 'Account' })

/** The account with facts of the session that reads it. */
export interface AccountView {
  readonly user: User
  readonly passkeysAvailable: boolean
  readonly confirmedForMs: number
}

export const account = encoder(accountShape).from<AccountView>({
  id: ({ user }) => user.id,
  email: ({ user }) => user.email,
  name: ({ user }) => user.name,
  confirmed_for_seconds: ({ confirmedForMs }) => Math.floor(confirmedForMs / 1000),
})

export const accountChanges = z.strictObject({
  name: z
    .string()
    .max(4 * maxUserName)
    .meta({ description: `At most ${maxUserName} characters on one line. Empty removes the name.` }),
})

/** Authenticators choose ids of up to 1,023 octets (WebAuthn Level 3 §4). */
export const longId = z.strictObject({ id: z.string().min(1).max(1364) })

const json = z.record(z.string(), z.unknown())

const passkeyShape = z
  .object({
    id: z.string(),
    name: z.string().meta({ description: 'Browser and system that created the passkey.' }),
    synced: z.boolean().meta({ description: 'The passkey is backed up, so that it survives the loss of the device.' }),
    created_at: wireTime,
    last_used_at: wireTime.nullable(),
  })
  .meta({ id: 'Passkey' })

export const passkey = encoder(passkeyShape).from<Passkey>({
  synced: ({ isSynced }) => isSynced,
  last_used_at: ({ usedAt }) => orNull(usedAt),
})
export const allPasskeys = pageEncoder(passkey).via((all: Passkey[]) => ({ rows: all, nextCursor: undefined }))

export const passkeyOptions = encoder(
  z
    .object({ options: json.meta({ description: 'The argument of `PublicKeyCredential.parseCreationOptionsFromJSON()`.' }) })
    .meta({ id: 'PasskeyOptions' }),
).from<{ readonly options: Readonly<Record<string, unknown>> }>()

export const newPasskey = z.strictObject({
  response: json.meta({ description: 'The result of `credential.toJSON()` (WebAuthn Level 3 §5.1).' }),
})

const sessionShape = z
  .object({
    id: z.string(),
    browser: z.string().nullable().meta({ description: 'Such as Firefox; null for unknown browsers.' }),
    system: z.string().nullable().meta({ description: 'Such as Linux; null for unknown systems.' }),
    method: z.enum(signInMethods),
    created_at: wireTime,
    last_seen_at: wireTime.meta({ description: 'Accurate to one hour.' }),
    is_current: z.boolean().meta({ description: 'Whether this session sent the request.' }),
  })
  .meta({ id: 'Session' })

export interface OwnSession extends Session {
  readonly isCurrent: boolean
}

export const session = encoder(sessionShape).from<OwnSession>({
  browser: ({ userAgent }) => browserName(userAgent).browser ?? null,
  system: ({ userAgent }) => browserName(userAgent).system ?? null,
  last_seen_at: ({ seenAt }) => toWireTime(seenAt),
})
export const allSessions = pageEncoder(session).via((all: OwnSession[]) => ({ rows: all, nextCursor: undefined }))

export const endedSessions = encoder(z.object({ ended: z.int() }).meta({ id: 'EndedSessions' })).from<{ readonly ended: number }>()
