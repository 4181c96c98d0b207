/** Texts about a destination: its host or provider, and its mode. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import type { Destination } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'

/** Returns the preset or provider and, for SMTP, host and port. */
export const placeOf = ({ provider, preset, credentials }: Destination): string => {
  const { host, port } = credentials as { readonly host?: string; readonly port?: number }
  return [preset ?? provider, host === undefined ? '' : `${host}:${String(port)}`].filter(Boolean).join(' · ')
}

export const Mode = ({ mode }: Pick<Destination, 'mode'>): JSX.Element => (
  <span class="status">
    <Mark name={mode} />
    {mode === 'live' ? texts().modeLive : texts().modeSandbox}
  </span>
)
