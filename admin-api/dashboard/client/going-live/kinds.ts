/** Providers to choose from: APIs, presets of mail hosts, and any other SMTP server. */
import type { Destination, Provider, SmtpPreset } from '../wire/api.d.ts'
import { texts } from './going-live-texts.ts'

export interface Kind {
  /** Part of the address of step 2. */
  readonly id: string
  readonly name: string
  readonly text: string
  readonly host: string
  readonly preset?: SmtpPreset
  readonly provider?: Provider
}

/** Returns the choices of step 1. A preset with the name of an API comes after it, as its SMTP server. */
export function kindsOf(presets: readonly SmtpPreset[], providers: readonly Provider[]): readonly Kind[] {
  const w = texts()
  const apis = providers.filter(({ id }) => id !== 'smtp')
  const ids = new Set<string>(apis.map(({ id }) => id))
  return [
    ...apis.map((provider): Kind => ({ id: provider.id, name: provider.name, text: w.byApi, host: '', provider })),
    ...presets.map((preset): Kind => {
      const { id, name, kind } = preset
      const host = preset.host_is_template ? '' : preset.host
      const isApi = ids.has(id)
      const text = kind === 'api' ? w.bySmtp : kind === 'webhoster' || kind === 'mailbox' ? w.byMailbox : host || w.otherServerText
      return { id: isApi ? `smtp-${id}` : id, name: isApi ? `${name} (SMTP)` : name, text, host, preset }
    }),
    { id: 'smtp', name: w.otherServer, text: w.otherServerText, host: '' },
  ]
}

export const groupOf = ({ provider, preset }: Kind): 'api' | 'host' | 'other' =>
  provider ? 'api' : preset?.kind === 'api' ? 'api' : preset?.kind === 'webhoster' || preset?.kind === 'mailbox' ? 'host' : 'other'

/** Returns the choice that a destination was created from. */
export const kindOf = ({ provider, preset }: Destination, kinds: readonly Kind[]): Kind | undefined =>
  kinds.find((kind) => (provider === 'smtp' ? (kind.preset?.id ?? null) === preset && !kind.provider : kind.provider?.id === provider))
