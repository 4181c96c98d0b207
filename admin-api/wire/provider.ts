/** Providers and their credentials on the wire. Spec "Destination". Secrets go in and never come out. */
import * as z from 'zod'
import { closest } from '#config/closest.ts'
import { credentialFields, httpProviderIds, httpProviders, type CredentialField, type HttpProvider } from '#config/providers.ts'
import type { HttpDestination } from '#core/routing/destination.ts'
import { filledLine } from './text.ts'

export const providerIds = ['smtp', ...httpProviderIds] as const

export const providerShape = z
  .object({
    id: z.enum(providerIds),
    name: z.string(),
    takes: z.enum(['mime', 'fields']).meta({
      description:
        'mime: the message is handed over as it is stored; fields: the provider makes a message of its own from sender, texts and attachments.',
    }),
    credentials: z.array(
      z.object({
        name: z.string(),
        required: z.boolean(),
        secret: z.boolean().meta({ description: 'Never shown again; answers say has_… instead.' }),
        choices: z.array(z.string()).nullable(),
        description: z.string(),
      }),
    ),
  })
  .meta({ id: 'Provider' })

type WireProvider = z.input<typeof providerShape>
type WireField = WireProvider['credentials'][number]

const wireField = (name: string, { required, secret, choices, describe }: CredentialField): WireField => ({
  ...{ name, required, secret },
  choices: choices ? [...choices] : null,
  description: describe,
})

const optional = { required: false, secret: false } as const
const baseUrl: CredentialField = {
  ...optional,
  describe: 'Origin of a private endpoint in place of the public one, such as https://mail-api.example.ch.',
}

const smtpFields: Readonly<Record<string, CredentialField>> = {
  host: { ...optional, describe: 'Host name or IP address of the server; required unless a preset knows it.' },
  port: { ...optional, describe: 'Port of the server; required unless a preset knows it.' },
  security: { ...optional, choices: ['tls', 'starttls', 'none'], describe: 'Required unless a preset knows it.' },
  tls_policy: { ...optional, choices: ['verify', 'insecure'], describe: 'insecure takes any certificate; verify unless given.' },
  username: { ...optional, describe: 'Login at the server, with password.' },
  password: { required: false, secret: true, describe: 'Password of the login.' },
}

/** Every provider with what it needs. */
export const wireProviders = (): WireProvider[] => [
  {
    id: 'smtp',
    name: 'SMTP server',
    takes: 'mime',
    credentials: Object.entries(smtpFields).map(([name, field]) => wireField(name, field)),
  },
  ...httpProviderIds.map((id): WireProvider => {
    const { title, takes } = httpProviders[id]
    const fields = Object.entries({ ...credentialFields(id), base_url: baseUrl })
    return { id, name: title, takes, credentials: fields.map(([name, field]) => wireField(name, field)) }
  }),
]

/** Choices are checked by the core, which knows what was meant. */
function credential({ describe, choices }: CredentialField) {
  return filledLine(2048).meta({ description: describe, ...(choices && { enum: [...choices] }) })
}

/** The credentials of one provider, as they are given to a new destination. */
export function credentialsOf(provider: HttpProvider) {
  const fields = Object.entries({ ...credentialFields(provider), base_url: baseUrl })
  return z.strictObject(Object.fromEntries(fields.map(([name, field]) => [name, credential(field).optional()])))
}

/** Every credential that any provider has, for changes; which of them fit depends on the destination. */
export const anyCredentials = Object.fromEntries(
  [...httpProviderIds.flatMap((id) => Object.entries(credentialFields(id))), ['base_url', baseUrl] as const].map(([name]) => [
    name,
    filledLine(2048).nullable().optional(),
  ]),
)

/** What an answer shows: plain ones as they are, of secrets only whether there is one. */
export const credentialsShape = z.record(z.string(), z.union([z.string(), z.boolean(), z.null()])).meta({
  description: 'Of a provider with an API: credentials by name, has_… for secrets, and base_url.',
})

export function toWireCredentials({
  provider,
  baseUrl: base,
  credentials,
  sealedCredentials,
}: HttpDestination): z.input<typeof credentialsShape> {
  const shown = Object.entries(credentialFields(provider)).map(([name, { secret }]) =>
    secret ? [`has_${name}`, sealedCredentials[name] !== undefined] : [name, credentials[name] ?? null],
  )
  return { ...Object.fromEntries(shown), base_url: base }
}

/** The words for a provider that is missing or unknown; nothing for other mistakes. */
export function unknownProvider(given: unknown): string {
  if (given === undefined) return `is required: one of ${providerIds.join(', ')}`
  const near = typeof given === 'string' ? closest(given, providerIds) : undefined
  return `must be one of ${providerIds.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`
}
