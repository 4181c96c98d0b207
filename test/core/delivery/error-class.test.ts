/** Classes of delivery errors, and their effect on the destination. */
import test from '#test'
import { effectOf, errorClass, type AttemptEffect, type ErrorClass } from '#core/delivery/attempt/error-class.ts'
import type { RecipientVerdict } from '#core/delivery/transport.ts'

const rows: readonly (readonly [code: string | undefined, verdicts: RecipientVerdict[], ErrorClass | undefined, AttemptEffect])[] = [
  [undefined, ['accepted', 'accepted'], undefined, 'works'],
  [undefined, ['permanent'], undefined, 'works'],
  [undefined, ['accepted', 'transient'], 'transient', 'works'],
  [undefined, ['permanent', 'transient'], 'transient', 'works'],
  [undefined, ['transient'], 'transient', 'busy'],
  ['peer_closing', ['transient'], 'transient', 'fault'],
  ['connect_refused', ['transient'], 'transient', 'fault'],
  ['tls_verification_failed', ['transient'], 'transient', 'fault'],
  ['command_timeout', ['transient'], 'transient', 'fault'],
  ['starttls_deferred', ['transient'], 'transient', 'fault'],
  ['auth_deferred', ['transient'], 'transient', 'fault'],
  ['auth_failed', ['transient'], 'misconfigured', 'fault'],
  ['destination_misconfigured', ['transient'], 'misconfigured', 'fault'],
  ['provider_failed', ['transient'], 'transient', 'fault'],
  ['provider_rate_limited', ['transient'], 'rate_limited', 'busy'],
  ['final_timeout', ['unknown'], 'unknown', 'fault'],
  ['aborted', ['unknown'], 'unknown', 'ours'],
  ['connection_lost', ['accepted', 'unknown'], 'unknown', 'works'],
  ['aborted', ['transient'], undefined, 'ours'],
  ['closed', ['transient'], undefined, 'ours'],
  ['content_failed', ['transient'], undefined, 'ours'],
]

for (const [code, verdicts, found, effect] of rows) {
  test(`errorClass() takes ${code ?? 'no error'} with ${verdicts.join(', ')} for ${found ?? 'none'}, and the destination ${effect}`, (t) => {
    const recipients = verdicts.map((verdict, n) => ({ address: `r${n}@example.net`, verdict }))
    const report = { recipients, error: code === undefined ? undefined : { code, message: '', phase: 'connect' } }
    t.is(errorClass(report), found)
    t.is(effectOf(report), effect)
  })
}
