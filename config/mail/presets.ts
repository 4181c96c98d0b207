/** Well-known SMTP submission servers, so that customers need not look up host and port. */
import { findOAuth2Provider, type OAuth2Provider } from './oauth2-providers.ts'
import data from './smtp-presets.json' with { type: 'json' }

export const presetKinds = ['webhoster', 'mailbox', 'api', 'self-hosted', 'development'] as const

/** Security of a connection: TLS from the first byte, STARTTLS, or no TLS. */
export type PresetSecurity = 'tls' | 'starttls' | 'none'

/** Values of a preset for a destination of provider `smtp`. */
export interface SmtpPreset {
  readonly id: string
  readonly name: string
  /** A host name. With `hostIsTemplate`, it has a placeholder in braces that the customer must replace. */
  readonly host: string
  readonly hostIsTemplate: boolean
  readonly port: number
  readonly security: PresetSecurity
  readonly kind: (typeof presetKinds)[number]
  /** ISO 3166 code of the country for a provider with a single market. */
  readonly country: string | null
  /** Description of the user name. */
  readonly username: string
  /** The user name if it is the same for all customers. */
  readonly fixedUsername: string | undefined
  /** SASL mechanisms. */
  readonly auth: readonly string[]
  /** Source of access tokens for XOAUTH2, if it is known. */
  readonly oauth2: OAuth2Provider | undefined
  /** False if the server replaces the envelope sender, or accepts only the login and its aliases. */
  readonly keepsEnvelopeFrom: boolean
  /** Further notes for customers. */
  readonly notes: readonly string[]
}

const securityNames: Readonly<Record<string, PresetSecurity>> = { implicit: 'tls', starttls: 'starttls', none: 'none' }

const presets: ReadonlyMap<string, SmtpPreset> = new Map(data.presets.map((preset) => [preset.id, read(preset)]))

/** Ids of all presets, in the order of the data file. */
export const presetIds: readonly string[] = [...presets.keys()]

/** Returns the preset with this id; undefined if it does not exist. */
export const findPreset = (id: string): SmtpPreset | undefined => presets.get(id)

/**
 * Returns false if the preset says that the server replaces the envelope sender. For a destination without a preset, searches the preset
 * of its host.
 */
export function keepsEnvelopeFrom(presetId: string | null, host: string): boolean {
  const preset = presetId === null ? undefined : presets.get(presetId)
  return (preset ?? presets.values().find((one) => one.host === host))?.keepsEnvelopeFrom ?? true
}

function read(preset: (typeof data.presets)[number]): SmtpPreset {
  const { id, name, host, port, username, country, quirks } = preset
  const auth: readonly string[] = preset.auth
  const security = securityNames[preset.security]
  if (!security) throw new TypeError(`Preset ${id} has the unknown security ${preset.security}`)
  const kind = presetKinds.find((known) => known === preset.kind)
  if (!kind) throw new TypeError(`Preset ${id} has the unknown kind ${preset.kind}`)
  const hostIsTemplate = preset.host_is_template ?? false
  const fixedUsername = /^(\S+) \(this very word\)$/.exec(username)?.[1]
  const oauth2 = auth.includes('XOAUTH2') ? findOAuth2Provider(host) : undefined
  return {
    ...{ id, name, host, hostIsTemplate, port, security, kind, country: country ?? null, username, fixedUsername, auth, oauth2 },
    keepsEnvelopeFrom: preset.keeps_envelope_from ?? true,
    notes: quirks ?? [],
  }
}
