/** The operator's view of SMTP logins that failed: who is locked out, from where, and as whom they tried. */
import * as z from 'zod'
import type { FailedLogin } from '#core/access/login-guard.ts'
import { operation, type Operation } from '../operation.ts'
import { toWireTime, wireTime } from '../wire/time.ts'

const failedLogin = z.strictObject({
  address: z.string().meta({ description: 'An IPv4 address, or the first four groups of an IPv6 address.' }),
  username: z.string().meta({ description: 'As it was tried, cut to 64 characters.' }),
  failures: z.int(),
  last_at: wireTime,
  blocked: z.enum(['user', 'address']).nullable().meta({
    description:
      '`user`: this user name failed too often and is told to wait, but where it has logged in before. `address`: the address failed too often; wrong logins from it are told to wait, right ones are let in.',
  }),
})

/** Where they are counted. */
export interface FailedLogins {
  list(): readonly FailedLogin[]
}

/** Served beside the other operations of the operator. */
export const operatorLoginOperations = (logins: FailedLogins): readonly Operation[] => [
  operation({
    tags: ['operator'],
    right: 'operator',
    method: 'GET',
    path: '/operator/v1/smtp-logins',
    operationId: 'operatorListFailedLogins',
    summary: 'List SMTP logins that failed in the last quarter of an hour, the latest first',
    description: 'At most 1,000 pairs of address and user name, of this process; a restart empties the list and ends every block.',
    response: z.strictObject({ data: z.array(failedLogin) }),
    handle: async () => ({ data: logins.list().map(({ lastAt, ...row }) => ({ ...row, last_at: toWireTime(lastAt) })) }),
  }),
]
