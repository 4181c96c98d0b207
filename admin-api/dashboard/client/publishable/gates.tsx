/** The five gates of a publishable key: purpose and current setting of each. */
import type { JSX } from 'preact'
import { plain } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import type { PublishableKey } from '../wire/api.d.ts'
import { texts } from './publishable-texts.ts'

/** Gates in the order of their checks. */
const gates = ['origin', 'recipient', 'sender', 'rate', 'captcha'] as const
type Gate = (typeof gates)[number]

export const Gates = ({ publishable }: { readonly publishable?: PublishableKey }): JSX.Element => (
  <ol class="gates">
    {gates.map((gate) => (
      <li key={gate}>
        <b>{texts().gates[gate]}</b>
        <span>{texts().gateTexts[gate]}</span>
        {publishable && <code>{valueOf(publishable, gate)}</code>}
      </li>
    ))}
  </ol>
)

function valueOf(key: PublishableKey, gate: Gate): string {
  const { per_ip_hour: ip, per_recipient_hour: recipient, per_key_hour: hour, per_key_day: day } = key.rates
  const bound = (most: number): string => (most === 0 ? '∞' : number(most))
  const values: Readonly<Record<Gate, string>> = {
    origin: key.allowed_origins.join(', '),
    recipient: key.allowed_to.join(', '),
    sender: key.locked_from,
    rate: [ip, recipient, hour, day].map(bound).join(' · '),
    captcha: key.captcha_provider ?? texts().noCaptcha,
  }
  return plain(values[gate])
}
