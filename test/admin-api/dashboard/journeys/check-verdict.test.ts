/** Verdict on a checked destination: its heading for each failure of the provider. */
import test from '#test'
import { checkVerdict } from '../../../../admin-api/dashboard/client/going-live/check-verdict.ts'

type Input = Parameters<typeof checkVerdict>
const destination = { from: null, credentials: { host: 'mail.nordpost.example', port: 587 } } as unknown as Input[0]
const failed = (step: string, code: string): Input[1] => [{ step, code, ok: false, detail: 'It failed.', milliseconds: 3 }] as never
const silent = { says: 'silent', host: 'mail.nordpost.example', port: 587, tryPort: 465 } as const

for (const [step, code, expected] of [
  ['connect', 'connect_refused', silent],
  ['connect', 'connect_timeout', silent],
  ['greeting', 'greeting_timeout', silent],
  ['ehlo', 'aborted', silent],
  ['tls', 'tls_failed', { says: 'failed', detail: 'It failed.' }],
  ['auth', 'auth_failed', { says: 'refused', reply: 'It failed.' }],
] as const)
  test(`check verdict: ${code} at ${step}`, (t) => {
    t.deepEqual(checkVerdict(destination, failed(step, code), []), expected)
  })
