/** How a receiver checks that a delivery is from here. */
import type { JSX } from 'preact'
import { words } from './webhooks-words.ts'

export const Verify = (): JSX.Element => (
  <details class="about-inbox">
    <summary>{words().verify}</summary>
    <pre class="code wrap" tabIndex={0}>
      {verification}
    </pre>
  </details>
)

const verification = `import { createHmac, timingSafeEqual } from 'node:crypto'

// body: the octets of the request as they came, before JSON is read; header: that of X-Service-Signature
export function isFromPostern(body, header, secret) {
  const expected = createHmac('sha256', secret).update(body).digest()
  const given = Buffer.from(header.replace(/^sha256=/, ''), 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}`
