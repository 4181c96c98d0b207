/** Well-known SMTP submission servers, so that a customer need not look up host and port. */
import data from './smtp-presets.json' with { type: 'json' }

/** How a connection is secured: TLS from the first byte, after STARTTLS, or not at all. */
export type PresetSecurity = 'tls' | 'starttls' | 'none'

/** What a preset fills in for a destination of provider `smtp`. */
export interface SmtpPreset {
  readonly id: string
  readonly name: string
  /** A host name, or with `hostIsTemplate` one with a placeholder in braces that the customer must replace. */
  readonly host: string
  readonly hostIsTemplate: boolean
  readonly port: number
  readonly security: PresetSecurity
}

const securityNames: Readonly<Record<string, PresetSecurity>> = { implicit: 'tls', starttls: 'starttls', none: 'none' }

const presets: ReadonlyMap<string, SmtpPreset> = new Map(data.presets.map((preset) => [preset.id, read(preset)]))

/** Ids of all presets, in the order of the data. */
export const presetIds: readonly string[] = [...presets.keys()]

/** The preset with this id; undefined when there is none. */
export const findPreset = (id: string): SmtpPreset | undefined => presets.get(id)

function read({ id, name, host, port, security, host_is_template }: (typeof data.presets)[number]): SmtpPreset {
  const named = securityNames[security]
  if (!named) throw new TypeError(`Preset ${id} has the unknown security ${security}`)
  return { id, name, host, hostIsTemplate: host_is_template ?? false, port, security: named }
}
