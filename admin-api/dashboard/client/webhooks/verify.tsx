/** Instructions and code for receivers that verify deliveries. */
import type { JSX } from 'preact'
import { texts } from './webhooks-texts.ts'

export const Verify = (): JSX.Element => (
  <details class="about-inbox">
    <summary>{texts().verify}</summary>
    <pre class="code wrap" tabIndex={0}>
      {verification}
    </pre>
  </details>
)

const verification = `import { createHmac, timingSafeEqual } from 'node:crypto'

// body: raw bytes of the request, before JSON parsing; header: value of X-Service-Signature
export function isFromPostern(body, header, secret) {
  const expected = createHmac('sha256', secret).update(body).digest()
  const given = Buffer.from(header.replace(/^sha256=/, ''), 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}`
