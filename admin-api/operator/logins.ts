/** Failed SMTP logins for the operator: blocked users and addresses, and the user names of the attempts. */
import * as z from 'zod'
import type { FailedLogin } from '#core/visitors/login-guard.ts'
import { action, type Action } from '../actions/action.ts'
import { encoder, encoderOf } from '../wire/fields/codec.ts'
import { noInput } from '../wire/fields/text.ts'
import { wireTime } from '../wire/fields/time.ts'

const failedLoginShape = z.strictObject({
  address: z.string().meta({ description: 'An IPv4 address, or the first four groups of an IPv6 address.' }),
  username: z.string().meta({ description: 'As given by the client, truncated to 64 characters.' }),
  failures: z.int(),
  blocked: z.enum(['user', 'address']).nullable().meta({
    description:
      '`user`: too many logins of this user name failed; it is refused temporarily, except from addresses where it has logged in before. `address`: too many logins from this address failed; wrong passwords from it are refused temporarily, correct ones are accepted.',
  }),
  last_at: wireTime,
})

const failedLogin = encoder(failedLoginShape).from<FailedLogin>()
const failedLogins = encoderOf(z.strictObject({ data: z.array(failedLoginShape) }), (rows: readonly FailedLogin[]) => ({
  data: rows.map(failedLogin.encode),
}))

/** Source of the counts. */
export interface FailedLogins {
  list(): readonly FailedLogin[]
}

/** Part of the operator's operations. */
export const operatorLoginActions: readonly Action<{ readonly logins: FailedLogins }>[] = [
  action({
    id: 'operatorListFailedLogins',
    summary: 'List failed SMTP logins of the last 15 minutes, latest first',
    description: 'Lists at most 1,000 pairs of address and user name of this process. A restart empties the list and ends every block.',
    tags: ['operator'],
    scope: 'operator',
    input: noInput,
    output: failedLogins,
    http: { method: 'GET', path: '/operator/v1/smtp-logins' },
    run: ({ core }) => core.logins.list(),
  }),
]
